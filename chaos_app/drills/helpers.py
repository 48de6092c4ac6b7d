"""The controller's hold on its helper processes: orders go out, stages come back."""

import itertools
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from chaos_app.drills.lines import Json, Lines, listen

START_SECONDS = 90.0  # a busy machine may take long to load everything


class Ticket:
    """One order, what was said with it, and the stages that have come back."""

    def __init__(self, name: str, do: str, said: Json) -> None:
        self.name, self.do, self.said = name, do, said
        self.stages: dict[str, Json] = {}
        self._changed = threading.Condition()

    def note(self, message: Json) -> None:
        """Keep a stage."""
        with self._changed:
            self.stages[message["stage"]] = message
            self._changed.notify_all()

    def wait(self, *stages: str, seconds: float = 30.0) -> Json | None:
        """Return the first of these stages that is there; None after ``seconds``."""
        with self._changed:
            self._changed.wait_for(lambda: any(stage in self.stages for stage in stages), seconds)
            return next((self.stages[stage] for stage in stages if stage in self.stages), None)


class Helper:
    """One helper process. ``forked`` is told of each child that it makes, before that child does anything."""

    def __init__(self, lines: Lines, forked: Callable[[int, str], None] = lambda pid, case: None) -> None:
        self._lines, self._forked = lines, forked
        self._tickets: dict[str, Ticket] = {}
        self._cases: dict[str, str] = {}
        self._number = itertools.count(1)
        self.ready = threading.Event()
        threading.Thread(target=self._hear, name="helper", daemon=True).start()

    def order(self, do: str, *, case: str = "", **more: Any) -> Ticket:
        """Send an order."""
        name = f"{do}-{next(self._number)}"
        ticket = self._tickets[name] = Ticket(name, do, more)
        self._cases[name] = case
        self._lines.say(id=name, do=do, case=case, **more)
        return ticket

    def tell(self, ticket: Ticket, do: str) -> None:
        """Say more about an order."""
        self.tell_name(ticket.name, do)

    def tell_name(self, name: str, do: str) -> None:
        """Say more about the order of that name."""
        with suppress(OSError):
            self._lines.say(id=name, do=do)

    def _hear(self) -> None:
        for message in self._lines.hear():
            if message.get("ready"):
                self.ready.set()
            elif ticket := self._tickets.get(message.get("id", "")):
                if message["stage"] == "forked":
                    self._forked(message["pid"], self._cases[ticket.name])
                    self.tell(ticket, "go")
                ticket.note({"heard": time.time(), **message})

    def close(self) -> None:
        """Let go of the process; it ends."""
        self._lines.close()


class Control:
    """The socket to which helper processes connect, each saying its role first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._server = listen(path)
        self._come: dict[str, Lines] = {}

    def meet(self, role: str, forked: Callable[[int, str], None] = lambda pid, case: None) -> Helper:
        """Return the helper of that role once it is ready, whoever comes first. Raises TimeoutError."""
        while role not in self._come:
            self._accept()
        lines = self._come.pop(role)
        helper = Helper(lines, forked)
        if not helper.ready.wait(START_SECONDS):
            raise TimeoutError(f"The {role} did not get ready.")
        return helper

    def _accept(self) -> None:
        self._server.settimeout(START_SECONDS)
        connection, _ = self._server.accept()
        connection.settimeout(None)
        lines = Lines(connection)
        self._come[str(next(lines.hear(), {}).get("role"))] = lines

    def close(self) -> None:
        """Close the socket."""
        self._server.close()
        self.path.unlink(missing_ok=True)
