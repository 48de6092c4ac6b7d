"""A drill stands apart: nothing of the stack that launched it reaches it, and a running drill is no leftover."""

import fcntl
import json
import os
from pathlib import Path

from chaos_app.drills import place

STACK = {
    "DATABASE_URL": "postgresql://demo",
    "DATABASE_OWNER_URL": "postgresql://owner",
    "REDIS_URL": "unix:///demo",
    "CELERY_BROKER_URL": "amqp://demo",
    "HANDRAIL_WORLD_URL": "http://demo",
    "HANDRAIL_VAR": "/demo/var",
    "HANDRAIL_MODULES": "own_agent",
    "HANDRAIL_ENVIRONMENT": "staging",
    "PATH": "/bin",
}


def test_a_drill_beside_a_running_stack_has_no_address_of_it() -> None:
    made = place.environment_of(STACK, Path("/demo/var/drills/run-1"))
    home = made.pop(place.HOME)
    assert not [name for name, value in made.items() if "demo" in value and name != "HANDRAIL_VAR"]
    assert made["HANDRAIL_VAR"] == "/demo/var/drills/run-1"
    assert made["HANDRAIL_MODULES"].split(",")[-1] == "own_agent"
    assert (made["PATH"], made["HANDRAIL_ENVIRONMENT"]) == ("/bin", "drill")
    assert json.loads(home)["DATABASE_URL"] == "postgresql://demo"


def test_a_drill_that_another_person_runs_is_left_alone_and_one_that_was_killed_is_cleaned_once(tmp_path: Path) -> None:
    for name in ("run-1", "run-2"):
        for part in ("postgres", "world", "target", "evidence"):
            (tmp_path / name / part).mkdir(parents=True)
        (tmp_path / name / place.LOCK).touch()
    with (tmp_path / "run-1" / place.LOCK).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = place.clean(tmp_path)
        assert (tmp_path / "run-1" / "postgres").exists()
    assert len(said) == 1
    assert "run-2" in said[0]
    assert {path.name for path in (tmp_path / "run-2").iterdir() if path.is_dir()} == {"evidence"}
    assert place.clean(tmp_path) != []  # the first one's controller has gone by now
    assert place.clean(tmp_path) == []


def test_a_run_that_ends_takes_its_servers_along_and_keeps_its_evidence(tmp_path: Path) -> None:
    for part in ("postgres", "run", "world", "target", "evidence"):
        (tmp_path / part).mkdir()
    with place.tidied(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"evidence"}


def test_a_folder_that_is_only_just_made_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "run-3").mkdir()
    assert place.leftovers(tmp_path) == []
    os.utime(tmp_path / "run-3", (1, 1))
    assert place.leftovers(tmp_path) == [tmp_path / "run-3"]
