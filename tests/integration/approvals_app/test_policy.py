"""Policy: rules by version, shadows, failures, the test box, the console."""

import pytest
from django.test import Client
from django.urls import reverse

from approvals_app.models import ApprovalRequest, PolicyRule
from approvals_app.selectors import policy as remembered
from approvals_app.selectors.policy import policy_try, rules_forget, rules_of
from approvals_app.services.policy import rule_retire
from approvals_app.status import Outcome
from core.access import Role
from core.errors import InvalidInput
from core.models import Membership
from tasks_app.models import Event, Task
from tests.desk import CLEAN, GATE, HUSH, SCAN, Clean, Desk, claim, parked, rule, task_create


def outcome(desk: Desk, contract=CLEAN, **arguments) -> str:
    whole = Clean(**({"path": "/a"} | arguments)).model_dump()
    return GATE.assess(task=task_create(desk), contract=contract, arguments=whole).outcome


def test_the_first_rule_that_matches_decides_and_its_version_is_kept_with_request_and_call(desk: Desk):
    rule(desk, "late", "true", quorum=3, position=200)
    rule(desk, "early", "arguments.path.startsWith('/x')", quorum=1, position=1)
    rule(desk, "early", "arguments.path.startsWith('/scratch')", quorum=2, position=1)
    request = parked(desk)
    assert (request.rule, request.rule_version, request.quorum) == ("early", 2, 2)
    asked = Event.objects.get(stream=request.task_id, kind="approval.requested")
    intended = Event.objects.get(stream=request.task_id, kind="call.intended")
    for event in (asked, intended):
        kept = event.data["policy"]
        assert (kept["rule"], kept["version"], kept["revision"]) == ("early", 2, 3)
    assert [(row.name, row.version) for row in rules_of(workspaces=[desk.workspace.pk])] == [("early", 2), ("late", 1)]
    assert len(rules_of(workspaces=[desk.workspace.pk], retired=True)) == 3


def test_no_match_falls_back_to_the_contracts_own_rule(desk: Desk):
    rule(desk, "other", "tool == 'another.tool'", Outcome.DENY)
    assert (outcome(desk), outcome(desk, HUSH), outcome(desk, SCAN)) == ("ask", "allow", "allow")


def test_a_contract_that_states_that_it_asks_is_never_lowered_by_a_rule(desk: Desk):
    rule(desk, "free", "true", Outcome.ALLOW)
    assert outcome(desk) == "ask"
    request = parked(desk)
    assert (request.rule, request.policy["raised"]) == ("free", "by the contract")
    assert outcome(desk, HUSH) == "allow"


def test_a_shadow_rule_only_says_what_it_would_have_done(desk: Desk):
    rule(desk, "trial", "arguments.path == '/scratch/a'", Outcome.DENY, shadow=True)
    request = parked(desk)
    assert request.policy["shadow"] == [{"rule": "trial", "version": 1, "outcome": "deny", "failed": ""}]
    task = task_create(desk)
    said = GATE.assess(task=task, contract=HUSH, arguments={"path": "/scratch/a", "deep": False})
    assert (said.outcome, said.policy["shadow"][0]["rule"]) == ("allow", "trial")


@pytest.mark.parametrize(("demand", "expected"), [(Outcome.ALLOW, "ask"), (Outcome.ASK, "ask"), (Outcome.DENY, "deny")])
def test_a_condition_that_fails_counts_as_met_where_the_rule_demands_something(desk: Desk, demand, expected):
    rule(desk, "careless", "arguments.nothing > 1", demand)
    task = task_create(desk)
    said = GATE.assess(task=task, contract=CLEAN, arguments={"path": "/a", "deep": False})
    assert said.outcome == expected
    assert ("nothing" in said.policy.get("failed", "")) == (demand != Outcome.ALLOW)


def test_a_condition_that_would_take_for_ever_is_stopped_and_counts_as_failed(desk: Desk):
    numbers = "[1,2,3,4,5,6,7,8,9,10]"
    slow = "true"
    for name in "abcdefgh":
        slow = f"{numbers}.all({name}, {slow})"
    rule(desk, "slow", slow, Outcome.DENY)
    task = task_create(desk)
    said = GATE.assess(task=task, contract=CLEAN, arguments={"path": "/a", "deep": False})
    assert (said.outcome, said.policy["failed"]) == ("deny", "INTERNAL: Iteration budget exceeded [INTERNAL]")


def test_a_call_that_asks_nobody_costs_no_query_of_policy_within_a_second(desk: Desk, django_assert_num_queries):
    task = Task.objects.get(pk=task_create(desk).pk)
    rules_forget()
    with django_assert_num_queries(1):
        for _ in range(20):
            GATE.assess(task=task, contract=HUSH, arguments={"path": "/a", "deep": False})


def test_another_processs_change_is_met_a_second_later_at_most(desk: Desk, monkeypatch):
    assert outcome(desk, HUSH) == "allow"
    PolicyRule.objects.create(
        workspace=desk.workspace, name="new", version=1, condition="true", outcome="deny", written_by="ada"
    )
    from approvals_app.models import PolicyBook

    PolicyBook.objects.create(workspace=desk.workspace, revision=1)
    monkeypatch.setattr(remembered, "FRESH", 0.0)
    assert outcome(desk, HUSH) == "deny"


def test_the_test_box_says_which_rule_would_decide_and_changes_nothing(desk: Desk):
    rule(desk, "first", "arguments.nothing == 1", Outcome.ALLOW, position=1)
    rule(desk, "shade", "agent == 'a'", shadow=True, position=2)
    rule(desk, "second", "labels.team == 'ops'", quorum=2, position=3)
    trial = policy_try(workspace=desk.workspace, tool="desk.clean", arguments={}, agent="a", labels={"team": "ops"})
    assert (trial.verdict.rule, trial.verdict.demand.quorum) == ("second", 2)
    assert [(one.rule.name, one.matched) for one in trial.tried] == [
        ("first", False),
        ("shade", True),
        ("second", True),
    ]
    assert "nothing" in trial.tried[0].failed
    assert not ApprovalRequest.objects.exists()


def test_the_test_box_takes_a_call_without_arguments_and_says_what_is_no_object(desk: Desk, client: Client):
    client.force_login(desk.vera)
    fresh = client.get("/approvals/rules/").content.decode()
    assert "null" not in fresh[fresh.index('name="labels"') :]
    assert client.get("/approvals/rules/", {"tool": "desk.clean", "arguments": "{}"}).context["trial"]
    for wrong in ("[]", "7", "null"):
        page = client.get("/approvals/rules/", {"tool": "desk.clean", "arguments": wrong, "labels": "[1]"})
        assert (page.status_code, page.context["trial"]) == (200, None)
        assert "Write a JSON object" in page.content.decode()


def test_a_retired_rule_holds_no_more_and_every_change_is_in_the_administration_stream(desk: Desk):
    rule(desk, "never", "true", Outcome.DENY)
    assert outcome(desk) == "deny"
    rule_retire(workspace=desk.workspace, name="never", actor="person:ada")
    assert outcome(desk) == "ask"
    told = list(Event.objects.filter(stream=desk.workspace.pk, kind="policy.changed").order_by("seq"))
    assert [one.data["what"] for one in told] == ["rule never", "rule never"]
    assert (told[0].data.get("before"), told[0].data["after_change"]["outcome"]) == (None, "deny")
    assert (told[1].data["before"]["version"], told[1].data.get("after_change")) == (1, None)


@pytest.mark.parametrize(
    ("condition", "line", "column", "says"),
    [
        ("tool = 'x'", 1, 6, "token recognition error"),
        ("tool == 'x' &&\n  amount > 3", 2, 3, "undeclared reference to 'amount'"),
        ("tool == 5", 1, 6, "no matching overload"),
        ("tool", 1, 1, "must answer yes or no"),
        ("", 1, 1, "Syntax error"),
    ],
)
def test_a_mistake_in_a_condition_is_pointed_at(desk: Desk, condition, line, column, says):
    with pytest.raises(InvalidInput) as refused:
        rule(desk, "wrong", condition)
    mistake = refused.value.fields["errors"][0]
    assert (mistake["field"], mistake["line"], mistake["column"]) == ("condition", line, column)
    assert says in mistake["reason"]
    assert not PolicyRule.objects.exists()


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        ({"group": "nobody"}, "group"),
        ({"on_expiry": "escalate"}, "escalate_to"),
        ({"on_expiry": "escalate", "escalate_to": "approvers"}, "escalate_to"),
        ({"decide_within": 0.0}, "decide_within"),
        ({"step_up_within": -1.0}, "step_up_within"),
    ],
)
def test_a_rule_that_could_not_be_carried_out_is_refused_at_its_field(desk: Desk, demand, field):
    with pytest.raises(InvalidInput) as refused:
        rule(desk, "wrong", "true", **demand)
    assert [mistake["field"] for mistake in refused.value.fields["errors"]] == [field]


FORM = {
    "name": "careful",
    "position": "10",
    "outcome": "ask",
    "group": "approvers",
    "quorum": "2",
    "reason_rule": "none",
    "on_expiry": "deny",
    "second_person": "on",
}


@pytest.fixture
def console(desk: Desk, django_user_model) -> Client:
    client = Client()
    ada = django_user_model.objects.create_user("ada", password="correct horse battery")
    Membership.objects.create(user=ada, workspace=desk.workspace, role=Role.ADMIN)
    client.force_login(ada)
    return client


def test_the_console_points_at_a_mistake_and_saving_writes_the_next_version(desk: Desk, console: Client):
    add = reverse("admin:approvals_app_policyrule_add")
    form = FORM | {"workspace": str(desk.workspace.pk)}
    wrong = console.post(add, form | {"condition": "tool == 'x' &&\n  amount > 3"})
    assert wrong.status_code == 200
    assert "Line 2, column 3: undeclared reference to &#x27;amount&#x27;" in wrong.content.decode()
    assert "▸ amount &gt; 3" in wrong.content.decode()
    assert console.post(add, form | {"condition": "risk == 'high'"}).status_code == 302
    first = PolicyRule.objects.get()
    change = reverse("admin:approvals_app_policyrule_change", args=[first.pk])
    assert console.post(change, form | {"condition": "risk != 'low'"}).status_code == 302
    rows = PolicyRule.objects.order_by("version").values_list("version", "condition", "written_by")
    assert list(rows) == [(1, "risk == 'high'", "ada"), (2, "risk != 'low'", "ada")]
    first.refresh_from_db()
    assert first.retired_at is not None
    assert console.post(change, form | {"condition": "true"}).status_code == 403  # what decided then stays as it was


def test_the_console_makes_groups_and_retires_rules_through_their_services(desk: Desk, console: Client):
    add = reverse("admin:approvals_app_approvergroup_add")
    made = console.post(add, {"workspace": str(desk.workspace.pk), "name": "leads", "members": [desk.rhea.pk]})
    assert made.status_code == 302
    rule(desk, "leads", "true", group="leads")
    act = {"action": "retire", "_selected_action": [str(PolicyRule.objects.get().pk)]}
    console.post(reverse("admin:approvals_app_policyrule_changelist"), act)
    assert PolicyRule.objects.get().retired_at is not None
    told = Event.objects.filter(stream=desk.workspace.pk, kind="policy.changed").order_by("seq")
    assert [(one.data["what"], one.actor) for one in told] == [
        ("group leads", "person:ada"),
        ("rule leads", "person:ada"),
        ("rule leads", "person:ada"),
    ]


def test_a_task_reads_why_policy_refused_it(desk: Desk):
    rule(desk, "never here", "true", Outcome.DENY)
    task = task_create(desk)
    claim(task)
    said = GATE.assess(task=task, contract=CLEAN, arguments={"path": "/a", "deep": False})
    assert said.reason.startswith("Policy refuses this call: rule 'never here', version 1.")
