"""What no drill may do here, whoever asks: refused in one sentence before anything starts."""

import pytest

from chaos_app.drills.options import Options
from chaos_app.drills.permit import refusal, unwalled
from tasks_app.sandbox import levels
from tasks_app.sandbox.levels import Level


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(side_by_side=33), "side by side"),
        (Options(suite="soak", kills=0), "HANDRAIL_DRILL_CASES"),
        (Options(minutes=10**6), "HANDRAIL_DRILL_MINUTES"),
    ],
)
def test_too_many_workers_kills_or_minutes_are_refused(options: Options, said: str) -> None:
    assert said in refusal(options)


def test_sandboxes_are_drilled_only_where_there_are_some_to_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.PROCESS, ("No walls: not on this system.",)))
    assert refusal(Options(sandbox=True)) == "No drill with sandboxes runs here. No walls: not on this system."
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.NAMESPACES, ("Memory is limited for each.",)))
    assert unwalled() == ""


def test_a_forbidden_environment_is_named(settings) -> None:
    settings.HANDRAIL_ENVIRONMENT = "prod"
    assert "'prod'" in refusal(Options())
