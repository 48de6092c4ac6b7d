"""What the list's first page would show and the page does not waits behind a link, in whatever order it committed."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from tasks_app.models import Task
from tests.people import People
from tests.records import new_task, task_set


class ListPage:
    """A page of the list as one person has it, and what it is told."""

    def __init__(self, people: People, **query: str) -> None:
        self.client = Client()
        self.client.force_login(people.rhea)
        shown = self.client.get(reverse("tasks"), query).context
        self.rows = [row.pk for row in shown["rows"]]
        self.address = f"{reverse('tasks-live')}?{shown['live']}"

    def told(self) -> str:
        return str(self.client.get(self.address).json()["html"])


@contextmanager
def uncommitted(people: People) -> Iterator[None]:
    """Make a task in a transaction that ends when this does."""
    made, end = Event(), Event()

    def make() -> None:
        try:
            with transaction.atomic():
                new_task(people.workspace, people.rhea, title="began first")
                made.set()
                end.wait(30)
        finally:
            connection.close()

    thread = Thread(target=make)
    thread.start()
    try:
        assert made.wait(30)
        yield
    finally:
        end.set()
        thread.join(30)


def test_a_task_that_began_before_the_newest_row_and_committed_after_it_is_counted(
    transactional_db: None, people: People
):
    with uncommitted(people):
        newer = new_task(people.workspace, people.rhea, title="committed first")
        page = ListPage(people)
        assert page.rows == [newer.pk]
        assert "Show" not in page.told()
    assert Task.objects.exclude(pk=newer.pk).get().pk < newer.pk
    assert "Show 1 new" in page.told()


def test_an_old_task_that_fits_the_filter_by_now_is_counted(transactional_db: None, people: People):
    older, newer = (new_task(people.workspace, people.rhea) for _ in range(2))
    task_set(newer, status="paused", wake_at=None)
    page = ListPage(people, status="paused")
    assert page.rows == [newer.pk]
    task_set(older, status="paused", wake_at=None)
    assert "Show 1 new" in page.told()


def test_what_stands_on_a_later_page_is_no_newcomer(transactional_db: None, people: People, monkeypatch):
    monkeypatch.setattr("tasks_app.selectors.task_rows.ROWS", 2)
    for _ in range(3):
        new_task(people.workspace, people.rhea)
    page = ListPage(people)
    assert len(page.rows) == 2
    assert "Show" not in page.told()
    new_task(people.workspace, people.rhea)
    assert "Show 1 new" in page.told()
