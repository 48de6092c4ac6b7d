"""What a launch asks for decides what is looked for, and how often."""

import pytest

from chaos_app.drills.options import Options, are_drawn

CELL = "E04.applied.keyed.kill"


@pytest.mark.parametrize(
    ("options", "drawn"),
    [
        (Options(), False),
        (Options(workloads=("chain",)), False),
        (Options(cells=(CELL,)), False),
        (Options(suite="full", cells=(CELL,)), False),
        (Options(suite="full"), True),
        (Options(suite="soak"), True),
        (Options(suite="soak", cells=(CELL,)), True),
        (Options(hit=2), True),
        (Options(cells=(CELL,), faults=("hang",)), True),
        (Options(suite="full", cells=(CELL,), boundaries=("E05",)), True),
        (Options(target="own_agent.drill:target"), True),
        (Options(target="own_agent.drill:target", cells=(CELL,)), False),
    ],
)
def test_passages_are_looked_for_twice_wherever_cases_are_drawn_from_them(options: Options, drawn: bool) -> None:
    assert are_drawn(options) is drawn
