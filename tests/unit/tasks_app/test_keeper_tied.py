"""A process of a pool whose worker has gone before it could ask for anything ends by itself."""

import subprocess
import sys

from tests.processes import ROOT

CODE = """
import os, time
from tasks_app.keeper.tied import tie, tied_to
worker = os.getpid()
tied_to(worker)
ready, told = os.pipe()
if os.fork() == 0:
    if {waits}:
        while os.getppid() == worker:
            time.sleep(0.01)
    tie()
    os.write(1, b"goes on")
    os.write(told, b".")
    os._exit(0)
os.close(told)
if not {waits}:
    os.read(ready, 1)
os._exit(0)
"""


def said(*, waits: bool) -> str:
    command = [sys.executable, "-c", CODE.format(waits=waits)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout


def test_one_whose_worker_lives_goes_on_and_one_that_was_left_behind_ends():
    assert said(waits=False) == "goes on"
    assert said(waits=True) == ""
