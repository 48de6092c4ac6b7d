"""A drill of this agent: ``manage.py drill run --target own_service.drill:target``.

There is no ``ledger``: the drill puts its recording proxy in front of the service, and the proxy counts. It sees each
request with its marks, so it can also hold one on its way, or lose the answer to it.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from chaos_app.drills.target import Target
from own_service.agent import ADDRESS


def intent(case: str) -> dict[str, str]:
    """Return what the task of a case is given: a guest of its own."""
    return {"guest": f"Guest of {case}"}


@contextmanager
def service(folder: Path) -> Iterator[Mapping[str, str]]:
    """Run the service while the drill lasts. Where yours runs already (a test account), only yield its address."""
    command = [sys.executable, "-m", "own_service.service", str(folder / "guests.sqlite3")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield {ADDRESS: process.stdout.readline().strip()}
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


target = Target(
    name="own-service",
    agent="guest.welcome",
    tool="guest.add",
    call="add",
    intent=intent,
    address=ADDRESS,
    open=service,
)
