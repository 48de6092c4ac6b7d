"""The filter of system calls, run as the kernel runs it."""

import struct

import pytest

from tasks_app.sandbox.syscalls import ALLOW, TABLES, Table, filter_of

DENIED, NOT_THERE, NO_FAMILY = 0x50001, 0x50026, 0x50061
SEVERAL = 4096  # instructions that a kernel takes at most
INTEL, ARM = TABLES["x86_64"], TABLES["aarch64"]
both = pytest.mark.parametrize("table", [INTEL, ARM], ids=["x86_64", "aarch64"])


def verdict(table: Table, number: int, first: int = 0, *, architecture: int = 0, counted: bool = True) -> int:
    """Run the filter over one call and return what it says."""
    seen = {0: number, 4: architecture or table.architecture, 16: first & 0xFFFFFFFF}
    steps = list(struct.iter_unpack("=HBBI", filter_of(table, counted=counted)))
    at = held = 0
    while True:
        code, skip_if, skip_unless, value = steps[at]
        at += 1
        match code:
            case 0x20:
                held = seen[value]
            case 0x06:
                return value
            case 0x15:
                at += skip_if if held == value else skip_unless
            case 0x35:
                at += skip_if if held >= value else skip_unless
            case 0x45:
                at += skip_if if held & value else skip_unless
            case _:
                raise AssertionError(code)


@both
def test_what_most_programs_call_goes_through(table: Table):
    refused = {*table.refused, table.clone, *table.sockets}
    newer = {*range(425, 434), 435, 438, 442, 447, 467}
    assert all(verdict(table, number) == ALLOW for number in range(512) if number not in refused | newer)
    assert len(filter_of(table)) // 8 < SEVERAL


@both
def test_what_namespaces_do_not_part_is_refused(table: Table):
    assert {verdict(table, number) for number in (*table.refused, 425, 427, 428, 438, 447)} == {DENIED}


@both
@pytest.mark.parametrize("flags", [0x10000000, 0x20000, 0x40000000 | 17, 0x10000000 | 0x11])
def test_no_namespace_is_made_inside(table: Table, flags: int):
    assert verdict(table, table.clone, flags) == DENIED
    assert verdict(table, 435) == NOT_THERE  # clone3: libraries fall back to the one above


@both
def test_processes_and_threads_are_made(table: Table):
    assert verdict(table, table.clone, 17) == ALLOW  # SIGCHLD: a fork
    assert verdict(table, table.clone, 0x3D0F00) == ALLOW  # a thread


@both
def test_sockets_are_those_that_a_network_namespace_parts(table: Table):
    for number in table.sockets:
        assert [verdict(table, number, family) for family in (1, 2, 10, 16)] == [ALLOW] * 4
        assert {verdict(table, number, family) for family in (0, 17, 38, 40, 44)} == {NO_FAMILY}


@both
def test_another_table_of_numbers_leads_past_nothing(table: Table):
    assert verdict(table, 1, architecture=0x40000003) == NOT_THERE  # 32 bits
    assert verdict(table, 0x40000000 | 1) == NOT_THERE  # x32


@both
def test_memory_that_is_no_processs_own_is_had_only_where_it_is_counted(table: Table):
    assert {verdict(table, number) for number in table.hidden} == {ALLOW}
    assert {verdict(table, number, counted=False) for number in table.hidden} == {DENIED}
