"""Clients of people, and tasks with effects, for the board's pages."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tasks_app.models import Task
from tests.crew import Crew
from tests.people import People
from tests.records import new_task


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


@pytest.fixture
def task(transactional_db: None, people: People) -> Task:
    return new_task(people.workspace, people.rhea, title="Clean the harbour")


@pytest.fixture
def crew(child_environment: dict[str, str], people: People, tmp_path: Path) -> Iterator[Crew]:
    with ExitStack() as stack:
        yield Crew(stack, child_environment, tmp_path, people)
