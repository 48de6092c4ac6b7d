"""Every way in which the product is broken on purpose still takes out a line that is there, for cases that exist."""

import pytest

from chaos_app.drills.options import unknown_cells
from tests.drills.mutations import MUTATIONS, Mutation
from tests.processes import ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_what_is_taken_out_stands_once_in_the_product(mutation: Mutation):
    assert [(ROOT / edit.file).read_text().count(edit.old) for edit in mutation.edits] == [1] * len(mutation.edits)
    assert unknown_cells(seen.cell for seen in mutation.seen) == []


def test_there_are_at_least_ten_of_them_each_under_a_name_of_its_own():
    assert len({one.name for one in MUTATIONS}) == len(MUTATIONS) >= 10
