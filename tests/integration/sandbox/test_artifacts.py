"""Files go from one call to another through the record, by their content, and through no folder."""

import pytest

from tasks_app.artifacts import ArtifactChanged, artifact_content, artifact_keep
from tasks_app.models import Blob, Event
from tasks_app.services.create import task_create
from tasks_app.testing import task_run, worker_here
from tests.people import People


@pytest.mark.django_db(transaction=True)
def test_a_file_that_one_call_leaves_is_used_by_another_and_kept_once(people: People):
    task = task_create(
        workspace=people.workspace,
        owner=people.rhea,
        actor="person:rhea",
        agent="box.pass",
        intent={"number": 200},
    )
    task_run(task.pk, worker_here(), most=3)
    used = Event.objects.get(stream=task.pk, kind="call.outcome", data__name="use")
    assert used.data["result"] == {"size": 51_200, "right": True, "around": []}
    assert Blob.objects.filter(stream=task.pk).count() == 1


def test_content_that_was_changed_on_its_way_is_refused():
    made = artifact_keep(b"as it was", name="a file")
    assert artifact_content(made) == b"as it was"
    with pytest.raises(ArtifactChanged, match="a file"):
        artifact_content(made | {"base64": "AAAA"})
    with pytest.raises(ArtifactChanged):
        artifact_content(made | {"base64": "[masked:known:0123abcd]"})
