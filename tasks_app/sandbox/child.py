"""The inside of a sandbox: reads one request, runs one function, answers once, ends. Standard library only.

Run as a script. What it is told comes over its channel: first its walls, which it takes before it loads anything, then
the one call. It may have waited between the two. Secrets come with the call, over a descriptor of their own. Everything
that it says is untrusted outside.
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import socket
import sys
import threading
from dataclasses import asdict, is_dataclass
from typing import Any

PIECE = 65536
TOLD = 100_000  # characters of what was raised; it is cut outside, where it has been masked first
KINDS = {"Answer", "Started", "Found", "Absent", "CannotTell", "Observed"}
PR_SET_PDEATHSIG = 1
MOST_GIVEN = 4096
UNLOADED = ("httpx._main",)  # its command line, which takes as long to load as all the rest of it


def main(channel: str, starter: str, identity: str = "-") -> None:
    """Do the one call. ``starter``: a process to end with, or "-".

    ``identity``: the number to become before anything is loaded, or "-".
    """
    if starter != "-":
        end_with(int(starter))
    descriptors_close(int(channel))
    line = socket.socket(fileno=int(channel))
    line.set_inheritable(False)
    told = Told(line)
    walls = told.read()
    doors = doors_open(walls["network"])
    if identity != "-":
        os.setgroups([])
        os.setgid(int(identity))
        os.setuid(int(identity))  # and has no rights from here on
    elif walls["network"]:
        rights_drop()
    limit(walls["limits"])
    sys.path[:0] = walls["paths"]
    load(walls["common"])
    request = told.read()
    limit_cpu(walls["limits"])
    known = secrets_read(told.given)
    doors_keep(doors, walls["proxy"])
    os.environ.update(request["environment"])
    reply = run(request, known, lambda: line.sendall(b'{"began": true}\n'))
    line.sendall(text_of(reply, walls["limits"]["output"]))
    line.shutdown(socket.SHUT_WR)
    while True:
        signal.pause()  # ended from outside, where what this call has used is read first


class Told:
    """What comes over the channel, a line at a time; ``given``: the descriptors that came along."""

    def __init__(self, line: socket.socket) -> None:
        self._line, self._rest = line, b""
        self.given: list[int] = []

    def read(self) -> dict[str, Any]:
        """Return the next line; whoever would say it has gone: end."""
        while b"\n" not in self._rest:
            piece, given, _, _ = socket.recv_fds(self._line, PIECE, 1, socket.MSG_CMSG_CLOEXEC)
            if not piece:
                os._exit(1)
            self._rest += piece
            self.given += given
        line, _, self._rest = self._rest.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said


def load(modules: list[str]) -> None:
    """Load what most tools need while nothing is to be done yet: our own modules and installed ones, no tool's."""
    sys.modules.update(dict.fromkeys(UNLOADED))  # type: ignore[arg-type]  # None: it cannot be imported
    for module in modules:
        with contextlib.suppress(Exception):  # whoever needs it will say what is wrong with it
            importlib.import_module(module)


def end_with(starter: int) -> None:
    """Die with the worker where no namespace sees to it."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != starter:
            os._exit(1)


def descriptors_close(kept: int) -> None:
    """Let go of whatever else came along, the namespace that it was made in for one."""
    os.closerange(3, kept)
    os.closerange(kept + 1, MOST_GIVEN)


def secrets_read(given: list[int]) -> dict[str, str]:
    """Read what was granted to this call, once."""
    known: dict[str, str] = {}
    for descriptor in given:
        with os.fdopen(descriptor, "rb") as pipe:
            known |= json.loads(pipe.read() or b"{}")
    return known


def limit(limits: dict[str, Any]) -> None:
    """Take the limits that bind each process; those on all together are set from outside."""
    for what, most in (
        (resource.RLIMIT_AS, limits["memory"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file"]),
        (resource.RLIMIT_NOFILE, limits["descriptors"]),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):  # macOS refuses some of them: said by the level
            resource.setrlimit(what, (value, value))


def limit_cpu(limits: dict[str, Any]) -> None:
    """Take the limit of processor time, which counts from the call: no code of a tool has run before."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = max(int(limits["cpu"]), 1) + round(used.ru_utime + used.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))


def doors_open(network: list[list[str]]) -> list[tuple[socket.socket, str]]:
    """Listen where each declared host seems to be; low ports take a right that is given back afterwards."""
    doors = []
    for place, address in network:
        port = place.rpartition(":")[2]
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.bind((address, int(port)))
        listener.listen(16)
        doors.append((listener, place))
    return doors


def doors_keep(doors: list[tuple[socket.socket, str]], proxy: str) -> None:
    """Carry what comes to each door to the proxy outside. Only now: a thread keeps the rights it was made with."""
    for listener, place in doors:
        threading.Thread(target=_doorkeeper, args=(listener, place, proxy), daemon=True).start()


def rights_drop() -> None:
    """Give back the one right that listening on low ports needed."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.prctl(47, 4, 0, 0, 0)  # PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())


def _doorkeeper(listener: socket.socket, place: str, proxy: str) -> None:
    while True:
        inner, _ = listener.accept()
        threading.Thread(target=_carry, args=(inner, place, proxy), daemon=True).start()


def _carry(inner: socket.socket, place: str, proxy: str) -> None:
    outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        outer.connect(proxy)
        outer.sendall(place.encode() + b"\n")
    except OSError:
        inner.close()
        return
    threading.Thread(target=_pump, args=(inner, outer), daemon=True).start()
    _pump(outer, inner)


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(PIECE):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def run(request: dict[str, Any], secrets: dict[str, str], begin: Any) -> dict[str, Any]:
    """Load the function and call it; whatever it raises becomes the reply."""
    try:
        function, model = function_find(request)
        arguments = [_argument(one, model, secrets) for one in request["arguments"]]
    except BaseException as error:
        return {"unloadable": f"{type(error).__name__}: {error}"[:TOLD]}
    if secrets:
        hold(secrets)
    begin()
    try:
        return {"value": shown(function(*arguments))}
    except BaseException as error:
        return raised(error)


def hold(secrets: dict[str, str]) -> None:
    """Let look-ups and read-backs, which are given no context, ask for their credentials by name."""
    from tasks_app.sandbox import held

    held.HERE.update(secrets)


def function_find(request: dict[str, Any]) -> tuple[Any, Any]:
    """Return the function, and the model of its arguments if its contract is declared here."""
    module = importlib.import_module(request["module"])
    registry = sys.modules.get("tasks_app.registry")
    if registry is not None:
        contract = registry._tools.get((request["tool"], request["version"]))
        if contract is not None:
            return getattr(contract, request["role"]), contract.arguments
    return _walk(module, request["qualname"]), None


def _walk(start: Any, qualname: str) -> Any:
    for part in qualname.split("."):
        start = getattr(start, part)
    return start


def _argument(one: dict[str, Any], model: Any, secrets: dict[str, str]) -> Any:
    kind, value = one["kind"], one["value"]
    if kind == "model":
        model = model or _walk(importlib.import_module(one["module"]), one["qualname"])
        return model.model_validate(value)
    if kind == "context":
        from tasks_app.contracts import CallContext

        return CallContext(**value, credentials=secrets)
    if kind == "answer":
        from tasks_app.contracts import Answer

        return Answer(**value)
    return value


def shown(value: Any) -> dict[str, Any]:
    """Return an answer as plain data with its kind."""
    kind = type(value).__name__
    if is_dataclass(value) and not isinstance(value, type) and kind in KINDS:
        return {"kind": kind, "fields": asdict(value)}
    return {"kind": "", "fields": {"value": value}}


def raised(error: BaseException) -> dict[str, Any]:
    """Return what was raised: Refused and Unknown with their fields, anything else by its name."""
    fault: dict[str, Any] = {"type": type(error).__name__, "text": str(error)[:TOLD]}
    if type(error).__module__ == "tasks_app.contracts":
        fault |= {name: value for name, value in vars(error).items() if name != "args"}
    return {"raised": fault}


def text_of(reply: dict[str, Any], most: int) -> bytes:
    """Return the reply as one line; one that is too large is named instead of sent."""
    text = json.dumps(reply, default=_plain).encode() + b"\n"
    return text if len(text) <= most else b'{"large": %d}\n' % len(text)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if dump is not None:
        return dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return list(value) if isinstance(value, set | frozenset | tuple) else str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
