"""Every case of the table is made again from its name alone; what the table does not have is none."""

import pytest

from chaos_app.drills.cells import cells
from chaos_app.drills.named import cell_named
from chaos_app.drills.names import Fault, Klass
from chaos_app.drills.options import Options, chosen


def test_each_case_of_the_table_is_the_one_of_its_name():
    for cell in cells("full"):
        if cell.fault in {Fault.ANSWER_LOST, Fault.ANSWER_LATE} or cell.row == "E03":
            continue  # told to the outside: nobody is held there
        made = cell_named(cell.id)
        assert made is not None, cell.id
        assert (made.id, made.place, made.call, made.second) == (cell.id, cell.place, cell.call, cell.second)


@pytest.mark.parametrize(
    "name",
    [
        "E99.before.keyed.kill",
        "E04.before.keyed.kill",  # no such position there
        "E04.applied.keyed.hang",  # nobody waits at a place in the code
        "B01.before.keyed.zombie",  # a person's process, no worker
        "E04.applied.keyed",
        "E04.applied.kept.kill",
        "E04.applied.keyed.thunder",
        "",
    ],
)
def test_what_the_table_does_not_have_has_no_case(name: str):
    assert cell_named(name) is None


def test_a_case_that_no_suite_has_is_played_when_it_is_named():
    name = "E04.applied.readable.kill-both"
    assert [cell.id for cell in chosen(Options(cells=(name,)), {})] == [name]
    with pytest.raises(ValueError, match="No case fits"):
        chosen(Options(cells=("E04.applied.keyed.hang",)), {})


def test_a_name_without_a_workload_takes_the_first_that_passes():
    from chaos_app.drills.cells import Seen

    found = {("asked", Klass.READABLE): [], ("act", Klass.READABLE): [Seen(boundary="C01", position="after")]}
    (cell,) = chosen(Options(cells=("C01.after.readable.kill-both",)), found)
    assert cell.workload == "act"
