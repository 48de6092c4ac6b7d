"""The desk of these tests."""

import pytest

from approvals_app.selectors.policy import rules_forget
from tests.desk import Desk, desk_create


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    rules_forget()  # of the test before, in a workspace that is gone
    return desk_create()
