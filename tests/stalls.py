"""For a worker that is started with ``-I tests.stalls``: its first attempt stops right before the send, until told."""

import os
import time
from pathlib import Path

from core import boundaries
from core.boundaries import Boundary, Crossing

FOLDER = Path(os.environ.get("HANDRAIL_STALLS", "."))


def stall(crossing: Crossing) -> None:
    """Say that we are here, wait for ``go``."""
    if crossing.boundary == Boundary.SEND and crossing.call == "act" and not (FOLDER / "stalled").exists():
        (FOLDER / "stalled").touch()
        while not (FOLDER / "go").exists():
            time.sleep(0.02)


boundaries.install(stall)
