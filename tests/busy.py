"""The Celery application with one more task: it holds a pool process until that is killed."""

import time
from pathlib import Path

from core.celery import app


@app.task(name="tests.hold")
def hold(folder: str) -> None:
    """Say in which process we are, then stay."""
    import os

    Path(folder, str(os.getpid())).touch()
    time.sleep(600)
