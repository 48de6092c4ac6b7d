"""The desk of these tests, and an agent outside."""

import pytest

from approvals_app.selectors.policy import rules_forget
from tests.desk import Desk, desk_create
from tests.integration.approvals_app.outside import Outside, agent_client


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    rules_forget()  # of the test before, in a workspace that is gone
    return desk_create()


@pytest.fixture
def outside(desk: Desk) -> Outside:
    return Outside(agent_client(desk, "payer"))
