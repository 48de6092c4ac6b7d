"""The list of cases that a person looks for an id in."""

import pytest

from chaos_app.drills.cells import cells
from chaos_app.drills.listing import listed
from chaos_app.drills.named import cell_named
from chaos_app.management.commands.drill import Command

HELD = "L04.situation.E02-before_send.keyed.hang"


def test_the_list_of_the_full_suite_has_the_cases_beside_the_core_and_says_what_a_run_adds():
    full, core = list(listed("full")), list(listed("core"))
    ids = {line.split()[0] for line in full}
    assert {cell.id for cell in cells("core")} < ids
    assert HELD in ids
    assert HELD not in {line.split()[0] for line in core}
    assert full[-1].startswith("The full suite adds")
    assert {line.split()[-1] for line in core if ".kill-sandbox" in line} <= {"--sandbox)"}
    assert cell_named("E05.before.keyed.kill.hit2") is not None


def test_the_command_lists_the_suite_that_it_is_asked_for(capsys: pytest.CaptureFixture[str]):
    command = Command()
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", "drill", "list", "--suite", "full"])
    assert ended.value.code == 0
    assert HELD in capsys.readouterr().out
