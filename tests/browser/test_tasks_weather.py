"""What happens around the page of a task: the web process and the layer go away and come back."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from playwright.sync_api import expect

import tests.agents  # noqa: F401 - declares the agents
from tasks_app.models import Task
from tasks_app.record.events import SignalReceived
from tests.browser.conftest import live
from tests.browser.task_pages import Opens, events, new_task, opened, rows, say
from tests.conftest import database_url
from tests.people import People, people_create
from tests.serving import WebServer, web_server


@pytest.fixture
def people(transactional_db: None) -> People:
    return people_create()


@pytest.fixture
def task(people: People) -> Task:
    return new_task(people, "Checkout requests queue for connections")


@pytest.fixture
def own_web(people: People, private_services: Any, tmp_path: Any) -> Iterator[tuple[WebServer, Any]]:
    services = private_services()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "core.settings",
        "DATABASE_URL": database_url(connection.settings_dict),
        "REDIS_URL": services.redis_url,
    }
    with web_server(environment, tmp_path) as server:
        yield server, services.valkey


@pytest.fixture
def own_server(own_web: tuple[WebServer, Any]) -> str:
    return own_web[0].address


class TestWeather:
    """What happens around the page: the web process and the layer go away and come back."""

    @pytest.fixture
    def server(self, own_server: str) -> str:
        return own_server

    def test_a_page_outlives_the_death_of_its_web_process(self, own_web, people: People, task: Task, signed_in: Opens):
        web, _ = own_web
        page, _ = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
        live(page)
        page.evaluate("window.marked = true")
        web.stop(signal.SIGKILL)
        say(task, SignalReceived(name="meanwhile"), SignalReceived(name="more"))
        web.start()
        expect(page.locator("#event-3")).to_be_attached()
        live(page)
        assert rows(page) == events(3)
        assert page.evaluate("window.marked")

    def test_a_page_outlives_the_layer_and_hears_of_it_again(self, own_web, people, task: Task, signed_in: Opens):
        _, valkey = own_web
        page, seen = opened(signed_in(people.rhea), f"/tasks/{task.pk}/")
        live(page)
        valkey.stop()
        say(task, SignalReceived(name="meanwhile"))
        expect(page.locator("#event-2")).to_be_attached()  # by the clock
        live(page)
        valkey.start()
        say(task, SignalReceived(name="after"))
        expect(page.locator("#event-3")).to_be_attached()
        assert rows(page) == events(3)
        assert seen == []
