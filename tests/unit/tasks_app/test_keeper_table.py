"""What a keeper renews, kills and declares dead, without any process."""

from uuid import UUID, uuid4

from tasks_app.keeper.table import GRACE, Table, Watched

NOBODY: frozenset[int] = frozenset()


def watched(table: Table, *, pid: int = 7, epoch: int | None = 1, until: float | None = 100.0) -> UUID:
    nonce = uuid4()
    table.put(Watched(task=uuid4(), nonce=nonce, pid=pid, epoch=epoch, slice_until=until))
    return nonce


def renewed(table: Table, now: float, stopped: frozenset[int] = NOBODY) -> list[UUID]:
    return [slice_.nonce for slice_ in table.renewable(now, stopped)]


def test_a_slice_is_renewed_until_its_own_deadline():
    table = Table()
    nonce = watched(table)
    assert renewed(table, 100.0) == [nonce]
    assert renewed(table, 100.1) == []


def test_the_deadline_of_its_open_call_ends_it_earlier_and_can_be_lifted():
    table = Table()
    nonce = watched(table)
    table.call_deadline(nonce, 50.0)
    assert renewed(table, 51.0) == []
    table.call_deadline(nonce, None)
    assert renewed(table, 51.0) == [nonce]


def test_a_stopped_process_is_not_renewed_and_the_others_are():
    table = Table()
    watched(table, pid=7)
    other = watched(table, pid=8)
    assert renewed(table, 1.0, frozenset({7})) == [other]


def test_an_expected_claim_is_not_renewed_but_dies_with_its_process():
    table = Table()
    nonce = watched(table, epoch=None, until=None)
    assert renewed(table, 1.0) == []
    assert [slice_.nonce for slice_ in table.gone(7)] == [nonce]


def test_past_a_deadline_and_its_grace_the_process_must_be_killed():
    table = Table()
    nonce = watched(table)
    assert table.overdue(100.0 + GRACE) == []
    assert [slice_.nonce for slice_ in table.overdue(100.1 + GRACE)] == [nonce]


def test_a_death_takes_the_slices_of_that_process_alone_and_once():
    table = Table()
    mine, _ = watched(table, pid=7), watched(table, pid=8)
    assert [slice_.nonce for slice_ in table.gone(7)] == [mine]
    assert table.gone(7) == []
    assert len(table) == 1


def test_a_forgotten_slice_is_neither_renewed_nor_lost():
    table = Table()
    table.forget(watched(table))
    assert renewed(table, 1.0) == []
    assert table.gone(7) == []
