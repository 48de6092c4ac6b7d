"""One runaway must not bury the desk: caps, groups, many answered at once."""

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.errors import NotTogether
from approvals_app.models import ApprovalRequest
from approvals_app.selectors.groups import approvals_groups
from approvals_app.services.caps import capped_wake
from approvals_app.services.together import approvals_decide_together, approvals_deny_group
from approvals_app.status import Answer, Via
from core.access import Right
from core.errors import Forbidden, InvalidInput, NotFound
from tasks_app.decisions import Decision, call, calls, complete
from tasks_app.models import Call, StopSwitch, Task
from tasks_app.registry import agent
from tasks_app.services.create import task_create as start
from tasks_app.services.stops import stop_lift
from tasks_app.testing import task_run, worker_here
from tasks_app.view import TaskView
from tests.desk import CLEAN, PAY, Desk, as_person, decide, kinds, parked, rule
from tests.integration.approvals_app.test_with_workers import DONE


@agent("desk.runaway")
def runaway(view: TaskView) -> Decision:
    """Ask for as many wipes as the intent says, in one step."""
    if "c-0" in view.calls:
        return complete(summary="done")
    return calls(*(call("desk.wipe", name=f"c-{n}", path=f"/{n}", note=f"{n}") for n in range(view.intent["many"])))


@pytest.fixture(autouse=True)
def _clean() -> None:
    DONE.clear()


def run_away(desk: Desk, many: int) -> Task:
    intent = {"many": many}
    task = start(workspace=desk.workspace, owner=desk.owen, actor="person:owen", agent="desk.runaway", intent=intent)
    return task_run(task.pk, worker_here())


def waiting(task: Task) -> list[ApprovalRequest]:
    return list(ApprovalRequest.objects.filter(task=task, status="requested").order_by("pk"))


def states(task: Task) -> list[str]:
    return list(Call.objects.filter(task=task).order_by("ordinal").values_list("state", flat=True))


def test_a_task_over_its_cap_waits_keeps_its_decision_and_asks_when_there_is_room(desk: Desk, settings):
    settings.HANDRAIL_APPROVALS_PER_TASK = 2
    task = run_away(desk, 4)
    assert states(task) == ["asked", "asked", "intended", "intended"]
    assert (task.status, task.wait["kind"]) == ("waiting", "limit")
    assert task.wait["on"] == "limit of open requests: 2 of this task wait"
    decide(waiting(task)[0], desk.rhea, Answer.DENIED)
    task = task_run(task.pk, worker_here())
    assert states(task) == ["denied", "asked", "asked", "intended"]
    for _ in range(3):
        decide(waiting(task)[0], desk.rhea)
        task = task_run(task.pk, worker_here())
    assert (states(task), task.status) == (["denied", "answered", "answered", "answered"], "completed")
    assert kinds(task.pk).count("step.decided") == 2  # the model was asked once for all of it


def test_an_agent_over_its_cap_waits_and_the_sweeper_wakes_it_when_there_is_room(desk: Desk, settings):
    settings.HANDRAIL_APPROVALS_PER_AGENT = 1
    first, second = run_away(desk, 1), run_away(desk, 1)
    assert (states(first), states(second)) == (["asked"], ["intended"])
    assert second.wait["on"] == "limit of open requests: 1 of agent desk.runaway wait"
    assert capped_wake() == 0
    decide(waiting(first)[0], desk.rhea)
    assert capped_wake() == 1
    task_run(second.pk, worker_here())
    assert states(second) == ["asked"]


def test_deny_all_and_pause_is_one_act_and_nothing_new_is_asked_until_the_stop_is_lifted(desk: Desk, settings):
    settings.HANDRAIL_APPROVALS_PER_TASK = 3
    task, other = run_away(desk, 5), parked(desk)
    (group, _) = approvals_groups(workspaces=[desk.workspace.pk])
    assert (group.agent, group.tool, group.rule, group.count, group.tasks) == (
        "desk.runaway",
        "desk.wipe",
        "contract",
        3,
        1,
    )
    denied = approvals_deny_group(
        principal=as_person(desk.rhea, desk.workspace),
        agent=group.agent,
        tool=group.tool,
        rule=group.rule,
        reason="it runs away",
        via=Via.PAGE,
    )
    assert (denied.count, denied.stop.switch.name) == (3, "desk.runaway")
    task = task_run(task.pk, worker_here())
    assert states(task) == ["denied", "denied", "denied", "intended", "intended"]
    assert (task.status, task.wait["kind"]) == ("waiting", "stop")
    assert not waiting(task)
    assert ApprovalRequest.objects.get(pk=other.pk).status == "requested"
    stop = StopSwitch.objects.get()
    stop_lift(workspace=desk.workspace, stop=stop.pk, reason="mended", user=desk.rhea, actor="person:rhea")
    task_run(task.pk, worker_here())
    assert states(task)[3:] == ["asked", "asked"]
    assert DONE == []


def test_denying_a_group_needs_the_rights_and_a_reason(desk: Desk):
    request = parked(desk)
    more = {"agent": "desk.agent", "tool": "desk.clean", "rule": "contract", "via": Via.API}
    for who in (
        as_person(desk.vera, desk.workspace),
        as_person(desk.rhea, desk.workspace, agent=True, scopes=frozenset(Right), token="bot"),
        as_person(desk.rhea, desk.workspace, scopes=frozenset({Right.APPROVALS_READ})),
    ):
        with pytest.raises(Forbidden):
            approvals_deny_group(principal=who, reason="r", **more)
    with pytest.raises(InvalidInput, match="Say why"):
        approvals_deny_group(principal=as_person(desk.rhea, desk.workspace), reason=" ", **more)
    assert ApprovalRequest.objects.get(pk=request.pk).status == "requested"
    assert not StopSwitch.objects.exists()


def together(desk: Desk, *requests: ApprovalRequest, decision=Answer.APPROVED, user=None):
    return approvals_decide_together(
        principal=as_person(user or desk.rhea, desk.workspace),
        items=[(request.pk, request.digest) for request in requests],
        decision=decision,
        reason="alike",
        via=Via.PAGE,
    )


def test_calls_of_one_tool_and_low_risk_are_answered_together_each_on_its_own(desk: Desk):
    one, two, three = parked(desk), parked(desk, arguments={"path": "/b"}), parked(desk)
    decide(two, desk.silas)
    done = together(desk, one, two, three)
    assert [one.outcome.request.status if one.outcome else one.refusal.status for one in done] == [
        "approved",
        409,
        "approved",
    ]
    assert [one.outcome.decided for one in done if one.outcome] == [True, True]


def test_calls_of_several_tools_or_of_high_risk_are_not_approved_together(desk: Desk):
    clean, pay = parked(desk), parked(desk, PAY, name="pay")
    with pytest.raises(NotTogether):
        together(desk, clean, pay, decision=Answer.DENIED)
    with pytest.raises(NotTogether):
        together(desk, pay)
    rule(desk, "careful", "true", step_up_within=60.0)
    with pytest.raises(NotTogether):
        together(desk, parked(desk))
    assert together(desk, pay, decision=Answer.DENIED)[0].outcome.decided
    with pytest.raises(NotFound):
        approvals_decide_together(
            principal=as_person(desk.tobin, desk.tobin.memberships.first().workspace),
            items=[(clean.pk, clean.digest)],
            decision=Answer.APPROVED,
            reason="",
            via=Via.PAGE,
        )
    assert ApprovalRequest.objects.get(pk=clean.pk).status == "requested"


@pytest.mark.parametrize("group", [{}, {"agent": "desk.agent", "tool": "desk.clean", "rule": "contract"}])
def test_what_stands_on_a_later_part_of_the_list_is_no_newcomer(desk: Desk, monkeypatch, group: dict[str, str]):
    monkeypatch.setattr("approvals_app.selectors.desk.ROWS", 2)
    for number in range(3):
        parked(desk, arguments={"path": f"/scratch/{number}"})
    rhea = Client()
    rhea.force_login(desk.rhea)
    shown = rhea.get(reverse("approvals"), group).context
    assert (len(shown["entries"]), bool(shown["next_url"])) == (2, True)
    poll = f"{reverse('approvals-live')}?{shown['live']}"
    assert "new</a>" not in rhea.get(poll).json()["html"]
    later, sooner = (parked(desk, CLEAN if group else PAY) for _ in range(2))
    assert "new</a>" not in rhea.get(poll).json()["html"]  # the first part afresh would show neither
    soon = ApprovalRequest.objects.filter(pk=sooner.pk)
    soon.update(decide_by=shown["entries"][0].decide_by)
    assert "Show 1 new</a>" in rhea.get(poll).json()["html"]
    assert str(later.pk) not in rhea.get(reverse("approvals"), group).content.decode()
