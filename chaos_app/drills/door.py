"""The drill's own doors before Postgres and the broker, as a process: ``python -m chaos_app.drills.door CONTROL ...``.

It takes orders over the controller's socket and ends with it. Orders: arm, release, cut, backends, message.
"""

import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

from chaos_app.drills.broker_door import BrokerDoor, broker_door_start
from chaos_app.drills.broker_door import Plan as Message
from chaos_app.drills.lines import Lines, connect
from chaos_app.proxy import Fate, Plan, Proxy, proxy_start


class Attendant:
    """Carries out the orders of the controller."""

    def __init__(self, lines: Lines, proxy: Proxy, broker: BrokerDoor) -> None:
        self._lines, self._proxy, self._broker = lines, proxy, broker
        self._plans: dict[str, Plan] = {}

    def serve(self) -> None:
        """Serve until the controller has gone."""
        self._lines.say(ready=True)
        for order in self._lines.hear():
            self._do(order)

    def _do(self, order: dict[str, Any]) -> None:
        match order:
            case {"do": "arm", "id": str(name), "pid": int(pid), "fate": fate}:
                plan = Plan(Fate(fate), pid=pid, commits=True, hold=True)
                self._plans[name] = self._proxy.arm(plan)
                threading.Thread(target=self._tell, args=[name, plan], daemon=True).start()
                self._lines.say(id=name, stage="armed", at=time.time())
            case {"do": "release", "id": str(name)}:
                self._plans.pop(name).release.set()
            case {"do": "backends", "id": str(name), "pid": int(pid)}:
                self._lines.say(id=name, stage="backends", backends=self._proxy.backends(pid), at=time.time())
            case {"do": "message", "id": str(name), "containing": str(text), "fate": str(fate)}:
                self._broker.arm(Message(fate, text.encode(), partial(self._met, name)))
                self._lines.say(id=name, stage="armed", at=time.time())
            case {"do": "cut"}:
                self._proxy.cut()

    def _met(self, name: str, at: float, what: str) -> None:
        self._lines.say(id=name, stage="fired", at=at, what=what)

    def _tell(self, name: str, plan: Plan) -> None:
        if plan.fired.wait(120):
            self._lines.say(id=name, stage="fired", what=plan.fate, at=time.time())


def main(control: str, server: str, folder: str, broker: str, path: str) -> None:
    """Open the doors (``server``: of Postgres; ``broker``: its socket) and serve."""
    lines = connect(control)
    lines.say(role="door")
    messages = broker_door_start(server=Path(broker), path=Path(path))
    with proxy_start(server=Path(server), folder=Path(folder)) as proxy, messages as door:
        Attendant(lines, proxy, door).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
