"""The world as a process: quick to start, gone when told, nothing lost over a SIGKILL, nothing of Django in it."""

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from chaos_app.world.client import ROOT, World, WorldClient, headers, mail_send, world_start
from chaos_app.world.serve import listen


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "chaos_app.world", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=30)


def fill(world: World) -> None:
    world.client.http.post("/tickets", json={"title": "t"}, headers=headers(key="k-ticket"))
    body = {"values": {"pool": 1}}
    world.client.http.post("/config/api", json=body, headers=headers(key="k-config", idempotent=False))
    mail_send(world.smtp, message_id="k-mail", to="a@b.test", subject="s", body="b")
    world.client.http.post("/payments", json={"payee": "x", "cents": 1}, headers=headers(key="k-pay"))


def test_a_kill_and_a_restart_keep_ledger_repository_and_mailbox(tmp_path: Path) -> None:
    world = world_start(tmp_path)
    fill(world)
    plan = world.client.arm("tickets", "refuse", match={"key": "later"})
    before = world.client.ledger()
    assert world.kill() == -signal.SIGKILL
    with world_start(tmp_path) as again:
        after = again.client.ledger()
        assert after.effects == before.effects
        assert [arrival.id for arrival in after.arrivals] == [arrival.id for arrival in before.arrivals]
        assert after.disagreements == []
        replayed = again.client.http.post("/tickets", json={"title": "t"}, headers=headers(key="k-ticket"))
        assert replayed.headers["Idempotency-Replayed"] == "true"
        refused = again.client.http.post("/tickets", json={"title": "t"}, headers=headers(key="later"))
        assert (refused.status_code, again.client.fault(plan.id).fired) == (422, 1)


def test_a_key_in_use_at_a_kill_is_free_again_and_nothing_was_applied(tmp_path: Path) -> None:
    world = world_start(tmp_path)
    hold = world.client.arm("tickets", "hold", match={"key": "k"}, at="before")
    with socket.create_connection(("127.0.0.1", int(world.url.rpartition(":")[2]))) as raw:
        body = b'{"title": "t"}'
        raw.sendall(
            b"POST /tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        world.client.wait_reached(hold.id)
        world.kill()
    with world_start(tmp_path) as again:
        assert again.client.effects(key="k") == []
        assert again.client.http.post("/tickets", json={"title": "t"}, headers=headers(key="k")).status_code == 201


def test_it_stops_on_sigterm_with_status_0_even_while_a_request_is_held(tmp_path: Path) -> None:
    world = world_start(tmp_path)
    hold = world.client.arm("tickets", "hold", match={"key": "k"})
    with socket.create_connection(("127.0.0.1", int(world.url.rpartition(":")[2]))) as raw:
        raw.sendall(
            b"POST /tickets HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n"
            b"Content-Length: 2\r\n\r\n{}"
        )
        world.client.wait_reached(hold.id)
        assert world.stop(seconds=30) == 0  # the request is held until somebody lets it go: nobody does
    assert (tmp_path / "world.log").read_text() == ""


def test_its_start_is_little_work(tmp_path: Path) -> None:
    world_start(tmp_path).stop()  # the first start compiles and makes the repository
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    world_start(tmp_path).stop()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 3  # seconds of a processor


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with listen(0) as listening:
        assert listening.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_second_world_in_one_folder_and_a_taken_port_are_refused_in_a_sentence(tmp_path: Path) -> None:
    with world_start(tmp_path / "one") as world:
        second = run("--dir", tmp_path / "one")
        assert (second.returncode, second.stdout) == (3, "")
        assert "another one runs in" in second.stderr
        taken = run("--dir", tmp_path / "two", "--port", world.url.rpartition(":")[2])
        assert taken.returncode == 3
        assert "Choose another" in taken.stderr
        with pytest.raises(RuntimeError, match="another one runs in"):
            world_start(tmp_path / "one")
    unreadable = run("--dir", tmp_path / "three", "--seed", tmp_path / "missing.json")
    assert (unreadable.returncode, "is no seed" in unreadable.stderr) == (3, True)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_it_ends_when_its_starter_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from chaos_app.world.client import world_start;"
        f"world = world_start(Path({str(tmp_path)!r})); print(world.url, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT) as starter:
        assert starter.stdout is not None
        url = starter.stdout.readline().strip()
        assert httpx.get(f"{url}/health").json() == {"status": "ok"}
        starter.kill()
        end = time.monotonic() + 10
        while answers(url):
            assert time.monotonic() < end
            time.sleep(0.02)


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").status_code == 200
    except httpx.TransportError:
        return False


def test_it_imports_no_django_and_nothing_else_of_handrail() -> None:
    code = (
        "import sys, chaos_app.world.serve, chaos_app.world.client; "
        "foreign = {'django', 'core', 'tasks_app', 'approvals_app'}; "
        "print([name for name in sys.modules if name.split('.')[0] in foreign])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


def test_manage_py_world_becomes_the_world_without_handrails_addresses(tmp_path: Path) -> None:
    environment = os.environ | {"DATABASE_URL": "postgres://secret@nowhere/x"}
    command = [sys.executable, "manage.py", "world", "--dir", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
        assert process.stdout is not None
        line = process.stdout.readline().split()
        assert line[:2] == ["world", "ready"]
        client = WorldClient(line[2])
        assert client.ledger().arrivals == []
        client.close()
        if sys.platform == "linux":
            given = Path(f"/proc/{process.pid}/environ").read_text()
            assert "DATABASE_URL" not in given
        process.terminate()
        assert process.wait(10) == 0
