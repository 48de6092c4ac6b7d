"""Barriers, not races: who reaches the armed place waits there until it is killed; everybody else passes."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from chaos_app.injector.controller import Controller
from chaos_app.injector.handler import injector_install
from chaos_app.injector.killing import NotOursError, Victim, kill
from chaos_app.injector.plan import Place, Plan, Stage
from chaos_app.injector.report import SOCKET, Report
from core import boundaries
from core.boundaries import Boundary, Position
from tests.processes import ROOT, alive, wait_for

TASK = uuid4()
# A worker in small: a leader that forks a child; the child crosses three places and then says that it passed.
WORKER = f"""
import os, sys, time
from uuid import UUID
from chaos_app.injector.handler import injector_install
from core.boundaries import Boundary, Position, cross
injector_install()
child = os.fork()
if child == 0:
    for call in ("ticket", "mail", "mail"):
        cross(Boundary.SEND, Position.BEFORE_SEND, task=UUID("{TASK}"), call=call)
    print("passed", flush=True)
    os._exit(0)
print(child, flush=True)
_, status = os.waitpid(child, 0)
print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.fixture
def controller() -> Iterator[Controller]:
    with tempfile.TemporaryDirectory() as folder, Controller(Path(folder) / "drill") as running:
        yield running


def worker(controller: Controller) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER],
        env=os.environ | {SOCKET: str(controller.path), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def plan(call: str, *, nth: int = 1, victim: Victim = Victim.CHILD, task: UUID | None = TASK) -> Plan:
    place = Place(boundary=Boundary.SEND, position=Position.BEFORE_SEND, task=task, call=call)
    return Plan(place=place, victim=victim, nth=nth)


def test_a_child_is_killed_at_the_armed_arrival_and_not_before(controller: Controller) -> None:
    armed = plan("mail", nth=2)
    controller.arm(armed)
    said, _ = worker(controller).communicate(timeout=30)
    assert "ended -9" in said
    assert "passed" not in said
    wait_for(lambda: armed.stage == Stage.LANDED)
    assert armed.seen == 2


def test_a_whole_worker_is_killed_with_the_child_that_arrived(controller: Controller) -> None:
    armed = plan("ticket", victim=Victim.WORKER_AND_KEEPER)
    controller.arm(armed)
    running = worker(controller)
    running.communicate(timeout=30)
    assert running.returncode == -9
    wait_for(lambda: armed.stage == Stage.LANDED)


@pytest.mark.parametrize(
    "armed", [plan("other"), plan("mail", nth=3), plan("mail", task=uuid4()), plan("mail", task=None)]
)
def test_whoever_is_not_meant_passes(controller: Controller, armed: Plan) -> None:
    controller.arm(armed)
    said, _ = worker(controller).communicate(timeout=30)
    assert "passed" in said
    assert armed.stage == Stage.ARMED


def test_a_process_that_we_did_not_start_is_left_alone() -> None:
    code = (
        "import subprocess, sys\n"
        "other = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE, start_new_session=True)\n"
        "print(other.pid, flush=True)\n"
        "input()\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as starter:
        assert starter.stdout
        stranger = int(starter.stdout.readline())
        with pytest.raises(NotOursError):
            kill(stranger, Victim.CHILD)
        assert alive(stranger)
        starter.communicate("\n")


def test_a_later_try_of_a_call_is_at_the_place_of_that_call() -> None:
    def at(call: str) -> bool:
        said = {"boundary": Boundary.SEND, "position": Position.BEFORE_SEND, "task": TASK, "epoch": 1}
        return plan("mail").place.fits(Report(**said, call=call, pid=1, parent=1))

    assert [at(name) for name in ("mail", "mail-2", "email", "mailing")] == [True, True, False, False]


def test_who_runs_a_task_is_who_crossed_last_under_its_newest_lease(controller: Controller) -> None:
    def cross(pid: int, epoch: int | None) -> None:
        said = {"boundary": Boundary.SEND, "position": Position.BEFORE_SEND, "task": TASK, "call": None}
        controller.take(Report(**said, epoch=epoch, pid=pid, parent=1))

    for pid, epoch in ((10, 1), (20, 2), (10, 1), (30, None)):  # a zombie and a second delivery come after
        cross(pid, epoch)
    report = controller.where(TASK)
    assert report
    assert report.pid == 20


def test_a_controller_that_has_gone_stops_nobody(controller: Controller) -> None:
    running = worker(controller)
    controller.close()
    said, _ = running.communicate(timeout=30)
    assert "passed" in said


def test_without_a_socket_in_the_environment_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOCKET, raising=False)
    injector_install()
    assert boundaries._handler is None


def test_deliveries_are_held_while_plans_are_made(controller: Controller) -> None:
    code = f"""
from uuid import UUID
from chaos_app.injector.handler import injector_install
from core.boundaries import Boundary, Position, cross
injector_install()
print("arrived", flush=True)
cross(Boundary.DELIVERED, Position.BEFORE, task=UUID("{TASK}"))
print("passed", flush=True)
"""
    environment = os.environ | {SOCKET: str(controller.path), "PYTHONPATH": str(ROOT)}
    with controller.held():
        running = subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)
        wait_for(lambda: controller.waiting == 1)
        assert running.poll() is None
    said, _ = running.communicate(timeout=30)
    assert "passed" in said
