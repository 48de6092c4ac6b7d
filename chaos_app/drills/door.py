"""The drill's own door before Postgres, as a process: ``python -m chaos_app.drills.door CONTROL SERVER FOLDER``.

It takes orders over the controller's socket and ends with it. Orders: arm, release, cut, backends.
"""

import sys
import threading
import time
from pathlib import Path
from typing import Any

from chaos_app.drills.lines import Lines, connect
from chaos_app.proxy import Fate, Plan, Proxy, proxy_start


class Attendant:
    """Carries out the orders of the controller."""

    def __init__(self, lines: Lines, proxy: Proxy) -> None:
        self._lines, self._proxy = lines, proxy
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
            case {"do": "cut"}:
                self._proxy.cut()

    def _tell(self, name: str, plan: Plan) -> None:
        if plan.fired.wait(120):
            self._lines.say(id=name, stage="fired", what=plan.fate, at=time.time())


def main(control: str, server: str, folder: str) -> None:
    """Open the door and serve."""
    lines = connect(control)
    lines.say(role="door")
    with proxy_start(server=Path(server), folder=Path(folder)) as proxy:
        Attendant(lines, proxy).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
