"""The whole record as a file, for those who may export."""

from django.urls import reverse

from tasks_app.models import Task
from tasks_app.record.verifier import verify
from tests.people import People


def test_a_record_is_exported_as_a_file_that_verifies(client_of, people: People, task: Task):
    answer = client_of(people.rhea).get(reverse("task-export", args=[task.pk]))
    lines = b"".join(answer.streaming_content).decode().splitlines()
    report = verify(lines)
    assert not report.problems
    assert client_of(people.silas).get(reverse("task-export", args=[task.pk])).status_code == 403
    assert client_of(people.tobin).get(reverse("task-export", args=[task.pk])).status_code == 404
