"""``manage.py up`` as tests start it: in a folder of its own, watched through what it prints."""

import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from tests.processes import ROOT, children, running, wait_for

OURS = ("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL")


class Up:
    """One running stack: its process, its folder, what it printed."""

    def __init__(self, process, var, log):
        self.process, self.var, self.log = process, var, log

    def printed(self):
        return self.log.read_text()

    def pid(self, name):
        """The last process that was started under this name."""
        return int(re.findall(rf"^{name} +\| started, process (\d+)", self.printed(), re.M)[-1])

    def url(self):
        return re.search(r"ready at (\S+)", self.printed())[1]

    def answers(self):
        try:
            with urllib.request.urlopen(f"{self.url()}/admin/login/", timeout=5) as response:
                return response.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False

    def server(self, program):
        """The process of an embedded service."""
        found = [pid for pid in children(self.process.pid) if program in os.readlink(f"/proc/{pid}/exe")]
        return found[0] if found else None


def environment(var, **more):
    kept = {k: v for k, v in os.environ.items() if k not in OURS}
    return kept | {"DJANGO_SETTINGS_MODULE": "core.settings", "HANDRAIL_VAR": str(var)} | more


@contextmanager
def stack_up(var, log, *options, **more) -> Iterator[Up]:
    """Start a stack on a free port and wait until its pages answer."""
    log.write_text("")
    command = ["manage.py", "up", "--port", "0", "--concurrency", "1", *options]
    with running(*command, env=environment(var, **more), log=log) as process:
        wait_for(lambda: "ready at" in log.read_text() or process.poll() is not None, seconds=100)
        assert "ready at" in log.read_text(), log.read_text()
        yield Up(process, var, log)


def attempt(var, *options, **more):
    """Run a start that is expected to be refused."""
    return subprocess.run(
        [sys.executable, "manage.py", "up", *(options or ("--port", "0"))],
        env=environment(var, **more),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
