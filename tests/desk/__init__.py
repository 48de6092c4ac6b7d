"""A desk for tests: people with rights, tools that ask, and tasks parked for approval through the real record."""

from tests.desk.acts import as_person, cancel, decide, group, rule
from tests.desk.people import Desk, desk_create
from tests.desk.tasks import GATE, attempt, claim, kinds, park, parked, propose, task_create
from tests.desk.tools import CLEAN, HUSH, MOVE, PAY, SCAN, WALLED, Clean, Pay

__all__ = [
    "CLEAN",
    "GATE",
    "HUSH",
    "MOVE",
    "PAY",
    "SCAN",
    "WALLED",
    "Clean",
    "Desk",
    "Pay",
    "as_person",
    "attempt",
    "cancel",
    "claim",
    "decide",
    "desk_create",
    "group",
    "kinds",
    "park",
    "parked",
    "propose",
    "rule",
    "task_create",
]
