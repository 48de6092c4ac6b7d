"""The desk of these tests, and a receiver outside."""

from collections.abc import Iterator
from typing import Any

import pytest

from approvals_app.selectors.policy import rules_forget
from tests.desk import Desk, desk_create
from tests.receiver import Receiver, receiving


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    rules_forget()  # of the test before, in a workspace that is gone
    return desk_create()


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    """A receiver on loopback, which channels may reach in this test."""
    settings.HANDRAIL_NOTIFY_PRIVATE = True
    with receiving() as found:
        yield found
