"""What no drill may do here, whoever asks: refused in one sentence before anything starts."""

import pytest

from chaos_app.drills.options import Options
from chaos_app.drills.permit import refusal


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


def test_a_forbidden_environment_is_named(settings) -> None:
    settings.HANDRAIL_ENVIRONMENT = "prod"
    assert "'prod'" in refusal(Options())
