"""Deaths outside of our code: the world holds the request, the process that waits for its answer is killed."""

import threading

import httpx

from chaos_app.demo.reports import Expected
from chaos_app.injector.controller import Controller
from chaos_app.injector.plan import Plan, Stage
from chaos_app.world.client import WorldClient

LOOKS = 1000  # seconds that a request is waited for; the run ends long before


class Hold:
    """One request that the world parks once, before it applies it or after. Give it the plan of the death."""

    def __init__(self, *, world: str, controller: Controller, plan: Plan, effect: Expected, at: str) -> None:
        self._world = WorldClient(world)
        self._controller, self._plan = controller, plan
        match = {"business_key": effect.business_key}
        self._fault = self._world.arm(effect.system, "hold", match=match, at=at, times=1).id
        threading.Thread(target=self._run, name=f"hold {self._fault}", daemon=True).start()

    def _run(self) -> None:
        try:
            self._wait()
        except (httpx.HTTPError, OSError) as error:
            self._failed(f"the world could not be asked: {error!r}")
            return
        self._kill()
        # Whoever waited is dead; what it sent is still on its way, and arrives now.
        self._world.release(self._fault, then="go")

    def _wait(self) -> None:
        for _ in range(LOOKS):
            try:
                self._world.wait_reached(self._fault, seconds=1.0)
            except TimeoutError:
                continue
            return

    def _kill(self) -> None:
        task = self._plan.place.task
        report = self._controller.where(task) if task else None
        if report is None:
            self._failed("no process has said that it runs the task")
        else:
            self._controller.strike(self._plan, report)

    def _failed(self, why: str) -> None:
        self._plan.stage, self._plan.why = Stage.FAILED, why
