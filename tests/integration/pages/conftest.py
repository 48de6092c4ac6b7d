"""Records to look at: calls in every state, through the record alone."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tasks_app.models import Task
from tests.people import People
from tests.records import new_task


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def signed_in(user: User, **options: bool) -> Client:
        client = Client(**options)
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def task(transactional_db: None, people: People) -> Task:
    return new_task(people.workspace, people.rhea, title="Clean the harbour", labels={"team": "quay"})
