"""Evidence is checked again by a worker, on the wish of a person whose own process carries no check at all."""

from chaos_app.world.client import World
from core.models import Workspace
from tasks_app.models import Task
from tasks_app.services.recheck import recheck_ask
from tests.crew import Crew, kinds, wait_kind, wait_status


def test_a_worker_looks_again_and_says_what_it_saw(crew: Crew, world: World) -> None:
    crew.worker()
    task = crew.task("one", tool="t.stock", arguments={"sku": "B-9"})
    wait_status(task, "completed")
    before = Task.objects.get(pk=task.pk).head_seq
    workspace = Workspace.objects.get(pk=task.workspace_id)
    assert recheck_ask(workspace=workspace, task=task.pk, actor="person:silas") == before
    seen = wait_kind(task, "evidence.observed", kinds(task.pk).count("evidence.observed") + 1)
    assert (seen.seq, seen.actor) == (before + 1, "person:silas")
