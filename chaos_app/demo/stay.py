"""``manage.py demo``: the same for a person: the world, ten incidents, a link that signs in, until Ctrl-C."""

import os
import sys
import threading
import webbrowser
from pathlib import Path

from django.conf import settings

from chaos_app.demo.desk import Desk
from chaos_app.demo.people import Entry, people_enter
from chaos_app.demo.reports import incidents, reports_file
from chaos_app.incidents.model import model_name
from core import port as ports
from core.output import Output
from core.program import Program
from core.stack import Stack, stack_run


def demo_stay(*, port: int, browser: bool) -> int:
    """Run until Ctrl-C; returns the exit code. Raises EmbeddedError with what stands in the way."""
    web, smtp = ports.free(0), ports.free(0)
    world, output = f"http://{ports.HOST}:{web}", Output()

    def begin(url: str) -> None:
        greeter = Greeter(url=url, world=world, output=output, browser=browser)
        threading.Thread(target=greeter.run, name="greeter", daemon=True).start()

    environment = {
        "HANDRAIL_DEMO": "1",
        "HANDRAIL_WORLD_URL": world,
        "HANDRAIL_WORLD_SMTP": f"{ports.HOST}:{smtp}",
        "NO_PROXY": f"{ports.HOST},localhost",
    }
    extra = [_world(web, smtp)]
    return stack_run(Stack(port=port, extra=extra, environment=environment, when_ready=begin, output=output))


def _world(web: int, smtp: int) -> Program:
    folder: Path = settings.VAR_DIR / "world"
    command = [sys.executable, "manage.py", "world", "--dir", str(folder), "--seed", str(reports_file())]
    return Program(name="world", command=(*command, "--port", str(web), "--smtp-port", str(smtp)))


class Greeter:
    """Gives the incidents, and says where to look."""

    def __init__(self, *, url: str, world: str, output: Output, browser: bool) -> None:
        self._url, self._world, self._output, self._browser = url, world, output, browser

    def run(self) -> None:
        """Do it; what goes wrong is one line, and the rest stays up."""
        try:
            entry = people_enter(self._url)
            self._give(entry)
        except Exception as error:
            self._say(f"The incidents could not be given: {type(error).__name__}: {error}")
            return
        self._greet(entry)

    def _give(self, entry: Entry) -> None:
        desk = Desk(self._url, entry.starts)  # a task that no worker can take yet waits for one
        for incident in incidents():
            desk.start(incident.report)
        desk.close()

    def _greet(self, entry: Entry) -> None:
        self._say("Ten incidents are being worked on. Each waits for an approval before it changes anything.")
        self._say(
            f"What to change is proposed by {model_name() or 'a script (no model is set up: see HANDRAIL_MODEL)'}."
        )
        self._say(f"Sign in as silas, who approves:  {entry.links['silas']}")
        self._say(f"Sign in as noor, who approves what silas has edited:  {entry.links['noor']}")
        self._say(f"Sign in as rhea, who started them:  {entry.links['rhea']}")
        self._say(f"Begin with the first five minutes, signed in as rhea:  {self._url}/drills/first/")
        self._say("Each link works once, within 15 minutes, on this machine; manage.py sign_in_link makes another.")
        self._say(f"The outside world, as it is:  {self._world}/")
        if self._browser and _has_browser():
            webbrowser.open(entry.links["silas"])

    def _say(self, line: str) -> None:
        self._output.say("demo", line)


def _has_browser() -> bool:
    """Whether a browser would open on a screen in front of somebody, and not in this terminal or nowhere."""
    if not sys.stdout.isatty() or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
