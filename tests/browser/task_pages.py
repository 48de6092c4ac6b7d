"""Pages of tasks for the browser tests: a task, what is said of it, and what its page shows."""

from collections.abc import Callable
from typing import Any

from playwright.sync_api import BrowserContext, Page

from core.hints import live_hint
from tasks_app.models import Task
from tasks_app.record.append import append
from tasks_app.services.create import task_create
from tests.browser.conftest import listen
from tests.people import People

Opens = Callable[..., BrowserContext]


def new_task(people: People, title: str) -> Task:
    return task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="test.note",
        intent={"text": "Raise the pool"},
        title=title,
        labels={"severity": "major"},
    )


def say(task: Task, *events: Any, **columns: Any) -> int:
    done = append(stream=task.pk, events=events, actor="worker:w-5", task=columns)
    live_hint(stream=task.pk, workspace=task.workspace_id, seq=done.head_seq)
    return done.head_seq


def opened(context: BrowserContext, path: str) -> tuple[Page, list[str]]:
    page = context.new_page()
    seen: list[str] = []
    listen(page, seen)
    page.goto(path)
    return page, seen


def rows(page: Page) -> list[str]:
    return page.locator("#timeline > li[id^=event-]").evaluate_all("items => items.map((item) => item.id)")


def events(last: int) -> list[str]:
    return [f"event-{seq}" for seq in range(1, last + 1)]
