"""Field cases 07 and 10: a review in rounds, and what counts as done."""

from collections.abc import Callable
from typing import Any

import pytest

from approvals_app.models import ApprovalRequest
from approvals_app.status import Answer
from chaos_app.world.client import WorldClient
from tasks_app.criteria import criterion
from tasks_app.decisions import Decision, call, complete, fail
from tasks_app.models import Event, Task
from tasks_app.services.create import task_create
from tasks_app.status import Status
from tasks_app.view import TaskView
from tests import desk
from tests.integration.runtime.conftest import Rig, fresh, kinds
from tests.integration.runtime.test_every_crossing import ENDS, effects_of
from tests.scripts import script

Rigs = Callable[[], Rig]


@script
def drafts_until_approved(view: TaskView) -> Decision:
    """Save a draft, propose it; denied: a new draft under new names."""
    for nth in range(1, 10):
        if f"draft-{nth}" not in view.calls:
            return call("t.ticket", name=f"draft-{nth}", title=f"draft {nth} {view.intent['title']}")
        if f"publish-{nth}" not in view.calls:
            draft = view.calls[f"draft-{nth}"].reference
            return call("c.ticket_asked", name=f"publish-{nth}", title=f"{draft} of {view.intent['title']}")
        if view.calls[f"publish-{nth}"].ok:
            return complete(summary=f"published in round {nth}")
    return fail("never approved")


def test_case_07_a_review_of_three_rounds_saves_three_drafts(rig: Rigs, client: WorldClient) -> None:
    one = rig()
    task = one.task("case.script", script="drafts_until_approved", title=fresh())
    for answer in (Answer.DENIED, Answer.DENIED, Answer.APPROVED):
        one.run(task, until=lambda t: t.status == Status.WAITING)
        request = ApprovalRequest.objects.get(task=task, status="requested")
        desk.decide(request, one.people.silas, answer, reason="not yet" if answer == Answer.DENIED else "good")
    one.run(task, until=lambda t: t.status in ENDS)
    titles = [e.arguments["title"] for e in client.effects() if (e.call or "").startswith(str(task.pk))]
    assert task.status == Status.COMPLETED
    assert [t.split()[1] for t in titles if t.startswith("draft")] == ["1", "2", "3"]
    assert len(titles) == 4
    asked = [kind for kind in kinds(task) if kind in {"approval.requested", "approval.decided", "approval.consumed"}]
    assert asked == ["approval.requested", "approval.decided"] * 3 + ["approval.consumed"]


@script
def uploads_a_report(view: TaskView) -> Decision:
    if "upload" not in view.calls:
        return call("c.file", name="upload", path=view.intent["file"], text="a,b\n1,2\n")
    return complete(summary="All done, report uploaded.")


def report(one: Rig, name: str) -> Task:
    return task_create(
        workspace=one.people.workspace,
        owner=one.people.rhea,
        actor="person:rhea",
        agent="case.bare",
        intent={"script": "uploads_a_report", "file": name},
        done_when=[criterion("file.has_rows", name=name, at_least=1)],
    )


def test_case_10_a_worker_that_dies_before_the_evidence_ends_no_task_the_check_does(
    rig: Rigs, client: WorldClient
) -> None:
    """(a) kill-8, and (c): the evidence carries digest, size and time."""
    one, name = rig(), f"{fresh()}.csv"
    one.die_at = ("F02", "before", 1)
    task = report(one, name)
    one.slice(task)
    task.refresh_from_db()
    assert one.died
    assert (task.status, "evidence.observed" in kinds(task)) == (Status.QUEUED, False)
    one.run(task, until=lambda t: t.status in ENDS)
    assert task.status == Status.COMPLETED
    order = [k for k in kinds(task) if k in {"task.claimed_complete", "evidence.observed", "task.completed"}]
    assert order == ["task.claimed_complete", "evidence.observed", "evidence.observed", "task.completed"]
    seen = Event.objects.filter(stream=task.pk, kind="evidence.observed").order_by("seq")[0]
    with client.http.stream("GET", f"/files/{name}") as answer:
        assert seen.data["details"] == {"digest": answer.headers["ETag"], "size": 8}
    assert effects_of(client, task) == 1


def test_case_10_a_claim_without_the_artefact_is_unverified_and_names_the_check(rig: Rigs, client: WorldClient) -> None:
    """(b) the upload failed, and the model says that it is done."""
    one, name = rig(), f"{fresh()}.csv"
    task = report(one, name)
    client.arm("files", "refuse", match={"call": f"{task.pk}/upload"})
    one.run(task, until=lambda t: t.status in ENDS)
    assert task.status == Status.UNVERIFIED
    missing = Event.objects.get(stream=task.pk, kind="task.unverified").data["missing"]
    assert [(m["criterion"].split("(")[0], m["seen"]) for m in missing] == [("file.has_rows", 0)]


@script
def says_done_at_once(view: TaskView) -> Decision:
    return complete(summary="trust me", claims=view.intent.get("claims", []))


def test_a_claim_without_any_criterion_is_not_believed(rig: Rigs) -> None:
    one = rig()
    task = one.task("case.bare", script="says_done_at_once")
    one.run(task, until=lambda t: t.status in ENDS)
    assert task.status == Status.UNVERIFIED
    assert Event.objects.get(stream=task.pk, kind="task.unverified").data["missing"][0]["criterion"] == "none"


DECIDED: list[Any] = []


@script
def completes_beside_a_call(view: TaskView) -> Decision:
    """Asked again while its payment is open, it would complete."""
    DECIDED.append(view.step)
    if "act" not in view.calls:
        return call("t.pay", name="act", payee=view.intent["title"], cents=1)
    return complete()


@pytest.mark.parametrize("kill", [("E02", "before_send", 1), ("E05", "before", 1)])
def test_no_task_completes_while_a_call_is_open_or_in_doubt(kill: Any, rig: Rigs) -> None:
    DECIDED.clear()
    one = rig()
    one.die_at = kill
    task = one.task("case.script", script="completes_beside_a_call", title=fresh())
    one.run(task, until=lambda t: t.status in ENDS)
    for _ in range(3):
        one.slice(task)
    task.refresh_from_db()
    assert (task.status, DECIDED) == (Status.IN_DOUBT, [0])
    assert "task.claimed_complete" not in kinds(task)
