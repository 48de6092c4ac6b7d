"""What no drill may do here, whoever asks: refused in one sentence before anything starts."""

import pytest

from chaos_app.drills.options import Options
from chaos_app.drills.permit import cases_allowed, refusal, unwalled
from tasks_app.sandbox import levels
from tasks_app.sandbox.levels import Level


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (Options(side_by_side=33), "side by side"),
        (Options(suite="soak", kills=0), "HANDRAIL_DRILL_CASES"),
        (Options(suite="soak", cells=("E04.applied.keyed.kill",)), "--cell cannot be asked of it"),
        (Options(suite="soak", boundaries=("E04",), hit=1), "--boundary and --hit cannot be asked of it"),
        (Options(suite="soak", repeat=2, classes=("keyed",)), "--class and --repeat cannot be asked of it"),
        (Options(suite="soak", target="a.b:c"), "--target cannot be asked of it"),
        (Options(suite="full", kills=5), "--kills is for --suite soak"),
        (Options(minutes=10**6), "HANDRAIL_DRILL_MINUTES"),
    ],
)
def test_too_many_workers_kills_or_minutes_are_refused(options: Options, said: str) -> None:
    assert said in refusal(options)


def test_a_drill_has_no_more_cases_than_one_may_have_whatever_its_suite(settings) -> None:
    settings.HANDRAIL_DRILL_CASES = 4
    cases_allowed(4)
    with pytest.raises(ValueError, match=r"5 cases are more than the 4 .* \(HANDRAIL_DRILL_CASES\)"):
        cases_allowed(5)
    assert "HANDRAIL_DRILL_CASES" in refusal(Options(suite="soak"))


def test_sandboxes_are_drilled_only_where_there_are_some_to_kill(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.PROCESS, ("No walls: not on this system.",)))
    assert refusal(Options(sandbox=True)) == "No drill with sandboxes runs here. No walls: not on this system."
    monkeypatch.setattr(levels, "level_here", lambda: Level(levels.NAMESPACES, ("Memory is limited for each.",)))
    assert unwalled() == ""


@pytest.mark.django_db
def test_a_soak_with_nothing_else_asked_of_it_is_not_refused() -> None:
    assert (refusal(Options(suite="soak")), refusal(Options(suite="soak", kills=5))) == ("", "")


def test_a_forbidden_environment_is_named(settings) -> None:
    settings.HANDRAIL_ENVIRONMENT = "prod"
    assert "'prod'" in refusal(Options())
