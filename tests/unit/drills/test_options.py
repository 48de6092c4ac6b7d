"""What a launch asks for decides what is looked for, and how often."""

import pytest

from chaos_app.drills.options import MOST_SIDE_BY_SIDE, Options, are_drawn

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


def test_a_machine_of_many_cores_runs_no_more_side_by_side_than_a_person_may_ask_for() -> None:
    assert [Options().at_once(cores) for cores in (2, 8, 64)] == [8, MOST_SIDE_BY_SIDE, MOST_SIDE_BY_SIDE]
    assert Options(sandbox=True).at_once(2) == 4
    assert Options(side_by_side=3).at_once(64) == 3
