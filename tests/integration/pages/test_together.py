"""Many tasks at once: those that were selected or all that a filter leaves, each listed, each told."""

from django.test import Client
from django.urls import reverse

from tasks_app.models import Event, Task
from tasks_app.status import Status
from tests.people import People
from tests.records import new_task

PAGE = reverse("tasks-together")


def three(people: People) -> list[Task]:
    return [new_task(people.workspace, people.rhea, title=f"T{number}") for number in range(3)]


def send(client: Client, tasks: list[Task], command: str, reason: str = "the pier is closed"):
    return client.post(PAGE, {"id": [task.pk for task in tasks], "command": command, "reason": reason})


def statuses(tasks: list[Task]) -> list[str]:
    return [Task.objects.get(pk=task.pk).status for task in tasks]


def test_the_selected_are_listed_with_how_many_each_command_can_take(client_of, people: People):
    tasks = three(people)
    silas = client_of(people.silas)
    assert send(silas, tasks[:1], "cancel").status_code == 200
    shown = silas.get(PAGE, {"id": [task.pk for task in tasks]}).content.decode()
    for button in ("Pause 2", "Resume 0", "Cancel 2"):
        assert f">{button}</button>" in shown
    assert "disabled>Resume" in shown
    assert all(task.title in shown for task in tasks)


def test_each_is_done_with_the_reason_and_what_is_refused_says_why(client_of, people: People):
    tasks = three(people)
    silas = client_of(people.silas)
    send(silas, tasks[:1], "cancel")
    shown = send(silas, tasks, "pause").content.decode()
    assert statuses(tasks) == [Status.CANCELLED, Status.PAUSED, Status.PAUSED]
    assert "3 asked, 1 refused" in shown
    assert "cannot be paused" in shown
    said = Event.objects.get(stream=tasks[1].pk, kind="task.paused")
    assert (said.data["reason"], said.actor) == ("the pier is closed", "person:silas")
    assert "each is done" in send(silas, tasks[1:], "resume").content.decode()
    assert statuses(tasks) == [Status.CANCELLED, Status.QUEUED, Status.QUEUED]


def test_without_a_reason_nothing_is_done(client_of, people: People):
    tasks = three(people)
    answer = send(client_of(people.silas), tasks, "cancel", reason=" ")
    assert answer.status_code == 422
    assert statuses(tasks) == [Status.QUEUED] * 3


def test_a_filter_takes_what_it_leaves_and_a_newcomer_is_not_among_them(client_of, people: People):
    tasks = three(people)
    other = new_task(people.workspace, people.silas, title="of silas")
    silas = client_of(people.silas)
    page = silas.get(PAGE, {"owner": "rhea"})
    assert page.context["ids"] == [task.pk for task in reversed(tasks)]
    new = new_task(people.workspace, people.rhea, title="came later")
    sent = {"id": page.context["ids"], "command": "pause", "reason": "the pier is closed", "owner": "rhea"}
    assert '<input type="hidden" name="owner" value="rhea">' in page.content.decode()
    assert silas.post(PAGE, sent).context["back"] == page.context["back"] == reverse("tasks") + "?owner=rhea"
    assert statuses([*tasks, other, new]) == [Status.PAUSED] * 3 + [Status.QUEUED] * 2
    assert "Nothing is selected" in silas.get(PAGE).content.decode()  # no filter is not everything


def test_only_who_may_operate_here_reaches_them(client_of, people: People):
    tasks = three(people)
    for outsider in (people.tobin,):
        assert send(client_of(outsider), tasks, "cancel").context["done"][0].refusal
    people.silas.memberships.all().delete()
    people.silas.memberships.create(workspace=people.workspace, role="viewer")
    viewer = client_of(people.silas)
    assert "right tasks:operate" in viewer.get(PAGE, {"id": [tasks[0].pk]}).content.decode()
    assert send(viewer, tasks, "cancel").status_code == 403
    assert 'form="together"' not in viewer.get(reverse("tasks")).content.decode()
    assert statuses(tasks) == [Status.QUEUED] * 3
