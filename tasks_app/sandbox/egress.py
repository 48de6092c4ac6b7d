"""The one way out of a sandbox that has a network: a proxy here, outside, that decides for each connection.

The sandbox has no network of its own; it reaches a unix socket, on which it names a place. Only what the contract
names is let through. Names are resolved here, once, and the address that was looked at is the one that is used, so
that a name cannot lead to a private address. Nothing goes on after the deadline.
"""

import ipaddress
import secrets
import socket
import threading
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tasks_app.keeper.place import EGRESS

PIECE = 65536
LONGEST_PLACE = 300  # bytes of the line that names a place
CONNECT_SECONDS = 5.0
# Seconds from the deadline, at which the sandbox is killed and all of its ways with it, to the proxy's own cut: a tool
# that saw its connection cut first could still answer, as if the other side had ended it.
LATER = 0.25
ENDS = 0.5  # seconds in which cut connections must be over
SHARED = ipaddress.ip_network("64:ff9b::/96")  # translates to IPv4 addresses, private ones as well
PUBLIC = ipaddress.ip_network("2000::/3")  # all that is public of IPv6; what lies elsewhere often stands for IPv4
# What one call may have of this process, whose descriptors and threads they take, and of its record, in which each is
# an event. Who wants more at once waits; beyond the second number they are counted, and that is noted.
AT_ONCE, IN_ALL = 32, 500


@dataclass(slots=True)
class Connection:
    """One connection, or one that was refused. Bytes from the sandbox (sent) and to it (received)."""

    place: str
    address: str = ""
    refused: str = ""
    sent: int = 0
    received: int = 0
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return what the record keeps of it."""
        return {name: getattr(self, name) for name in self.__slots__} | {"seconds": round(self.seconds, 3)}


def nothing_reached(connections: Collection[Connection]) -> bool:
    """Whether the outside was asked for and none of it was reached: known here, whatever is said inside. Pure."""
    return bool(connections) and not any(one.address for one in connections)


def address_refusal(address: str) -> str:
    """Say why an address is none of the public internet, or an empty text. Pure."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None) or getattr(found, "sixtofour", None)
    teredo = getattr(found, "teredo", None)
    each = [found, *([mapped] if mapped else []), *(teredo or ())]
    strange = found.version == 6 and (found in SHARED or found not in PUBLIC)
    if all(one.is_global and not one.is_multicast for one in each) and not strange:
        return ""
    return f"{address} is a private, local or reserved address, and the contract does not say that it may be one"


class Egress:
    """The proxy of one call; ``path`` is its socket, empty where the contract names no network."""

    def __init__(self, network: Collection[str], private: Collection[str], *, until: float, folder: Path) -> None:
        self._network, self._private, self._until = frozenset(network), frozenset(private), until + LATER
        self.connections: list[Connection] = []
        self.path = str(folder / f"{EGRESS}{secrets.token_hex(8)}") if network else ""
        self._open: set[socket.socket] = set()
        self._lock, self._closed = threading.Lock(), False
        self._threads: list[threading.Thread] = []
        self._room = threading.Semaphore(AT_ONCE)
        self._asked = 0
        self._listener: socket.socket | None = None

    def __enter__(self) -> Self:
        if self.path:
            self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self._listener.bind(self.path)
            Path(self.path).chmod(0o666)  # its folder is private; inside, it is reached by nobody's number
            self._listener.listen(16)
            self._begin(self._accept, self._listener)
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._closed = True
            left = [*self._open, *([self._listener] if self._listener else [])]
        for one in left:
            _cut(one)
        self._room.release()  # who waits for room sees that it is over
        if self.path:
            Path(self.path).unlink(missing_ok=True)
        until = time.monotonic() + ENDS
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))
        if self._listener:
            self._listener.close()
        self._note_left()

    def _note_left(self) -> None:
        """Say what came to nothing, and what was too much."""
        for one in self.connections:
            if not one.address and not one.refused:
                one.refused = "the call was over before it was connected"
        if (more := self._asked - IN_ALL) > 0:
            text = f"{more:,} more connections: one call makes at most {IN_ALL:,}"
            self.connections.append(Connection(place="more places", refused=text))

    def _begin(self, work: Any, *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, name="egress", daemon=True)
        with self._lock:
            if self._closed:
                return
            self._threads.append(thread)
        thread.start()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while self._room.acquire():
                inner, _ = listener.accept()
                self._asked += 1
                if self._asked > IN_ALL or self._closed:
                    inner.close()
                    self._room.release()
                else:
                    self._begin(self._serve, inner)

    def _serve(self, inner: socket.socket) -> None:
        """Let one connection through, or note why not."""
        began = time.monotonic()
        connection = Connection(place="")
        try:
            self._keep(inner)
            inner.settimeout(self._left())
            connection.place = _place(inner)
            self.connections.append(connection)
            outer = self._reach(connection)
            if outer is not None:
                self._carry(inner, outer, connection)
        except (OSError, UnicodeError) as error:  # the second: what is no name of a host
            connection.refused = connection.refused or ("" if connection.address else str(error))
        finally:
            connection.seconds = time.monotonic() - began
            self._drop(inner)
            self._room.release()

    def _reach(self, connection: Connection) -> socket.socket | None:
        if connection.place not in self._network:
            connection.refused = "the contract does not name it"
            return None
        host, _, port = connection.place.rpartition(":")
        found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        private = connection.place in self._private
        allowed = [one for one in addresses if private or not address_refusal(one)]
        if not allowed:
            connection.refused = address_refusal(addresses[0])
            return None
        outer, connection.address = self._connected(allowed, int(port))
        outer.settimeout(self._left())
        self._keep(outer)
        return outer

    def _connected(self, addresses: list[str], port: int) -> tuple[socket.socket, str]:
        """Connect to the first that answers. The address, not the name: another look-up could answer otherwise."""
        for address in addresses[:-1]:
            with suppress(OSError):
                return socket.create_connection((address, port), min(CONNECT_SECONDS, self._left())), address
        return socket.create_connection((addresses[-1], port), min(CONNECT_SECONDS, self._left())), addresses[-1]

    def _carry(self, inner: socket.socket, outer: socket.socket, connection: Connection) -> None:
        """Carry both ways until both ends have said all, or are cut."""

        def back() -> None:
            connection.received += _pump(outer, inner, self._until)

        answering = threading.Thread(target=back, name="egress", daemon=True)
        answering.start()
        connection.sent += _pump(inner, outer, self._until)
        answering.join()  # both sockets have timeouts, and are cut at the end
        self._drop(outer)

    def _keep(self, one: socket.socket) -> None:
        with self._lock:
            self._open.add(one)
            closed = self._closed
        if closed:
            _cut(one)

    def _drop(self, one: socket.socket) -> None:
        with self._lock:
            self._open.discard(one)
        one.close()

    def _left(self) -> float:
        return max(self._until - time.monotonic(), 0.01)


def _place(inner: socket.socket) -> str:
    line = b""
    while not line.endswith(b"\n"):
        piece = inner.recv(1)
        if not piece or len(line) > LONGEST_PLACE:
            raise OSError("it named no place")
        line += piece
    return line.decode("ascii", "replace").strip()


def _pump(source: socket.socket, target: socket.socket, until: float) -> int:
    """Carry bytes one way until the end of them or of the time; return how many."""
    count = 0
    with suppress(OSError):
        while time.monotonic() < until and (piece := source.recv(PIECE)):
            target.sendall(piece)
            count += len(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
    return count


def _cut(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
