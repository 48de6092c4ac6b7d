"""The keeper's eye on real processes, without a database: who is stopped, who may be renewed."""

import os
import selectors
import signal
import socket
import subprocess
import time
from uuid import uuid4

import pytest

from tasks_app.keeper import protocol
from tasks_app.keeper.process import WatchedProcess, exists, status_text, stopped
from tasks_app.keeper.server import Peer, Server
from tasks_app.keeper.table import Watched
from tasks_app.workers import WorkerDescription
from tests.processes import wait_for


@pytest.fixture
def process():
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


@pytest.fixture
def server():
    with socket.socket(socket.AF_UNIX) as listener:
        yield Server(
            worker=WorkerDescription(
                id=str(uuid4()), name="w", host="h", pid=os.getpid(), pool="prefork", code_digest="", carries={}
            ),
            listener=listener,
        )


def test_a_slice_whose_process_is_stopped_is_not_renewed_and_is_again_once_it_runs(server, process):
    slice_ = Watched(task=uuid4(), nonce=uuid4(), pid=process.pid, epoch=1, slice_until=time.monotonic() + 60)
    server._table.put(slice_)
    assert server.renewable() == [slice_]
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: stopped(process.pid), what="state T")
    assert server.renewable() == []
    process.send_signal(signal.SIGCONT)
    wait_for(lambda: server.renewable() == [slice_], what="the renewal to be allowed again")


def test_what_a_process_said_last_is_lost_with_it_once_and_by_the_keeper(server, process):
    kept, last = uuid4(), uuid4()
    ours, its = socket.socketpair()
    with ours, its:
        ours.setblocking(False)
        peer = server._peers[ours] = Peer(ours, protocol.Reader(ours), process.pid)
        server._selector.register(ours, selectors.EVENT_READ, lambda: server._hear(peer))
        server._process_watch(process.pid)
        server._table.put(Watched(task=uuid4(), nonce=kept, pid=process.pid, epoch=1, slice_until=None))
        watch = {"do": "watch", "task": str(uuid4()), "nonce": str(last), "epoch": 1, "until": None}
        process.kill()
        process.wait()
        protocol.send(its, watch)  # the keeper sees the death first
        server._process_ended(server._processes[process.pid])
        for key, _ in server._selector.select(0):
            key.data()
        assert {slice_.nonce for slice_ in server._dying[process.pid].slices} == {kept, last}
        assert not server._processes


def test_a_pidfd_proves_the_death_of_that_process(process):
    watched = WatchedProcess(process.pid)
    assert not watched.gone()
    watched.kill()
    process.wait()
    watched.close()
    assert watched.gone()
    assert not exists(process.pid)


def test_a_process_that_has_gone_before_anybody_looked_is_gone():
    with subprocess.Popen(["true"]) as short:
        short.wait()
    assert WatchedProcess(short.pid).gone()


def test_exit_codes_in_words():
    assert [status_text(code) for code in (0, 137, -9, -999)] == [
        "exit code 0",
        "exit code 137",
        "signal SIGKILL",
        "signal 999",
    ]
