"""``manage.py demo --once``: the stack, the world, the controller and the story in one run that cleans up behind it."""

import threading
import time
import traceback
from contextlib import ExitStack
from pathlib import Path

from django.conf import settings

from chaos_app.demo.reports import reports_file
from chaos_app.demo.story import Story, Told
from chaos_app.demo.table import report
from chaos_app.injector.controller import Controller
from chaos_app.injector.plan import Plan
from chaos_app.injector.report import SOCKET
from chaos_app.world.client import World, world_start
from core.embedded.folder import sockets
from core.output import Output
from core.stack import Stack, stack_run

STOPPED = 130


class Once:
    """One run: started by ``run`` in the main thread, played by a thread as soon as the pages answer."""

    def __init__(self, *, port: int = 0) -> None:
        self._port = port
        self._began = time.monotonic()
        self._told: Told | None = None
        self._failure = ""
        self._played = threading.Event()
        self._stopped = True  # until we ourselves say that it is over

    def run(self) -> int:
        """Run everything to its end. Returns the exit code: 0 where all is well, 130 where it was stopped."""
        folder: Path = settings.VAR_DIR
        folder.mkdir(parents=True, exist_ok=True)
        log = folder / "processes.log"
        self._say(f"Starting everything in {folder}; what the processes print is in {log.name} there.")
        with ExitStack() as stack, log.open("a") as stream:
            world = stack.enter_context(world_start(folder / "world", seed=reports_file()))
            controller = stack.enter_context(Controller(sockets(folder) / "drill", told=self._heard))
            story = Story(controller=controller, world=world, say=self._say)
            stack_run(self._stack(world, controller, story, Output(stream=stream)))
        return self._end()

    def _stack(self, world: World, controller: Controller, story: Story, output: Output) -> Stack:
        environment = {
            SOCKET: str(controller.path),
            "HANDRAIL_WORLD_URL": world.url,
            "HANDRAIL_WORLD_SMTP": f"{world.smtp[0]}:{world.smtp[1]}",
            "NO_PROXY": "127.0.0.1,localhost",
        }

        def begin(url: str) -> None:
            threading.Thread(target=self._play, args=[story, url], name="story", daemon=True).start()

        return Stack(port=self._port, environment=environment, when_ready=begin, over=self._over, output=output)

    def _play(self, story: Story, url: str) -> None:
        try:
            self._told = story.run(url)
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            with (settings.VAR_DIR / "processes.log").open("a") as stream:
                traceback.print_exc(file=stream)
        finally:
            self._played.set()

    def _over(self) -> bool:
        """Whether the supervisor is to end everything. It asks only as long as nobody else has stopped it."""
        self._stopped = not self._played.is_set()
        return not self._stopped

    def _heard(self, plan: Plan) -> None:
        place = plan.place
        where = f"{place.boundary.value} {place.boundary.name.lower().replace('_', ' ')}, {place.position.value}"
        call = f" of {place.call}" if place.call else ""
        self._say(f"SIGKILL of the {plan.victim.value} at {where}{call}: {plan.stage.value} {plan.why}".rstrip())

    def _end(self) -> int:
        if self._stopped:
            self._say("Stopped before its end; nothing is left running.")
            return STOPPED
        if self._told is None:
            log = settings.VAR_DIR / "processes.log"
            self._say(f"Not finished: {self._failure} Nothing is left running; what the processes said is in {log}.")
            return 1
        lines, well = report(self._told)
        text = "\n".join(lines)
        (settings.VAR_DIR / "report.txt").write_text(text + "\n")
        print(text, flush=True)
        return 0 if well else 1

    def _say(self, line: str) -> None:
        print(f"{time.monotonic() - self._began:6.1f} s  {line}", flush=True)
