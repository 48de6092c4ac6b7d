"""The desk of these tests."""

import pytest

from tests.desk import Desk, desk_create


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()
