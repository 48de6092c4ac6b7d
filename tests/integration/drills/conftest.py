"""Runs as a controller leaves them: a folder with evidence made by hand."""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from chaos_app.drills.evidence import Control, Effect, Evidence, Note, Witness, evidence_dump
from chaos_app.drills.names import Klass, Verdict
from chaos_app.drills.place import LOCK
from chaos_app.drills.script import START, Script, good
from chaos_app.models import DrillRun
from chaos_app.services.collect import drills_collect


def as_cell(made: Evidence, cell: str, **more: Any) -> Evidence:
    return replace(made, cell=replace(made.cell, id=cell), versions={"code": "abc"}, **more)


def unprotected() -> Control:
    effects = tuple(
        Effect(at=START + at, system="tickets", operation="do", reference=f"R-{at}", key=f"k{at}") for at in (1, 2)
    )
    notes = tuple(Note(at=START + at, who="process", what=what) for at, what in ((0.5, "sends"), (1.5, "sends again")))
    return Control(kind="unprotected", end=Verdict.REPEATED, notes=notes, witness=Witness(effects=effects))


def twice() -> Evidence:
    script = Script().claim().plan().attempt().arrive().die().claim().attempt(number=2, same=False).arrive(number=2)
    return as_cell(script.answer(number=2).complete().evidence(), "E04.twice")


def some() -> list[Evidence]:
    made = as_cell(good().evidence(), "E04.applied.keyed.kill")
    return [
        replace(made, controls=(*made.controls, unprotected())),
        as_cell(good(Klass.READABLE).evidence(), "E04.applied.readable.kill"),
        as_cell(good(Klass.OPAQUE).evidence(), "E04.applied.opaque.kill"),
    ]


Written = Callable[..., Path]


@pytest.fixture
def written(settings: Any, tmp_path: Path) -> Iterator[Written]:
    """Write a run's folder into this test's own var folder; its controller holds it while it runs, and lives."""
    settings.VAR_DIR = tmp_path
    controllers: dict[str, ExitStack] = {}

    def write(
        evidence: Sequence[Evidence], *, name: str = "run-1", state: str = "ended", lives: bool = True, **said: Any
    ) -> Path:
        folder = tmp_path / "drills" / name
        (folder / "evidence").mkdir(parents=True, exist_ok=True)
        controllers.setdefault(name, ExitStack()).close()
        lock = controllers[name].enter_context((folder / LOCK).open("w"))
        if state == "running" and lives:
            fcntl.flock(lock, fcntl.LOCK_EX)
        for one in evidence:
            (folder / "evidence" / f"{one.cell.id}.json").write_text(json.dumps(evidence_dump(one)))
        cells = [one.cell.id for one in evidence]
        run: dict[str, Any] = {"run": name, "suite": "core", "seed": 7, "state": state, "began": time.time()}
        run |= {
            "cells": cells,
            "pid": os.getpid(),
            "command": "manage.py drill run --seed 7",
            "versions": {"code": "abc"},
        }
        (folder / "run.json").write_text(json.dumps(run | said))
        return folder

    yield write
    for held in controllers.values():
        held.close()


@pytest.fixture
def run(written, people) -> DrillRun:
    written([*some(), twice()])
    drills_collect()
    run = DrillRun.objects.get()
    DrillRun.objects.update(workspace=people.workspace)
    return run


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, path
    return answer.content.decode()
