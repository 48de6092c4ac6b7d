"""Tools: what is declared beside what was shown; a contradiction comes first; one tool whole."""

from django.urls import reverse
from pydantic import BaseModel

import chaos_app.incidents  # noqa: F401 (declares its tools)
from chaos_app.models import DrillRun, ToolProof
from chaos_app.services.collect import drills_collect
from core.board.tools import version_difference
from core.clock import database_now
from tasks_app.contracts import Answer, CallContext, Contract
from tasks_app.models import Call, Task, Worker
from tasks_app.registry import tool_newest
from tasks_app.status import CallState, EffectClass
from tests.integration.drills.conftest import some, twice, written  # noqa: F401
from tests.people import People
from tests.records import call_in

EVIL = "<script>alert(1)</script>\u202e"


def proof(tool: str, *, is_true: bool, version: int = 1) -> None:
    shown = "keyed" if is_true else "opaque"
    fixed = {"tool": tool, "version": version, "declared": "keyed", "shown": shown, "trials": []}
    ToolProof.objects.create(**fixed, is_true=is_true, at=database_now())


def test_the_class_declared_stands_beside_the_class_shown(client_of, people: People, task: Task):
    proof("note.write", is_true=False)
    tools = client_of(people.rhea).get(reverse("tools")).context["tools"]
    first = tools[0]
    assert (first.name, first.is_contradicted) == ("note.write", True)
    page = client_of(people.rhea).get(reverse("tools")).content.decode()
    assert "Contradicted" in page
    assert "not tried" in page
    assert "Safe to resend" in page


def test_counts_are_of_the_last_week_and_of_this_workspace(client_of, people: People, task: Task):
    call_in(task, "one", CallState.IN_DOUBT, tool="note.write")
    call_in(task, "two", CallState.OK, tool="note.write")
    call_in(task, "old", CallState.OK, tool="note.write")
    Call.objects.exclude(name="old").update(first_attempt_at=database_now())
    counts = {one.name: one.counts for one in client_of(people.rhea).get(reverse("tools")).context["tools"]}
    assert (counts["note.write"]["calls"], counts["note.write"]["doubts"]) == (2, 1)
    other = {one.name: one.counts for one in client_of(people.tobin).get(reverse("tools")).context["tools"]}
    assert other["note.write"] == {}


def test_one_tool_shows_promise_limits_schema_and_last_calls(client_of, people: People, task: Task):
    call_in(task, EVIL, CallState.VERIFIED, tool="note.write", reference=EVIL)
    page = client_of(people.rhea).get(reverse("tool", args=["note.write"])).content.decode()
    assert "Keys are remembered for" in page
    assert "&quot;text&quot;" in page  # the schema
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert client_of(people.rhea).get(reverse("tool", args=["no.such"])).status_code == 404


def test_a_tool_that_can_be_looked_up_and_is_read_back_says_so(client_of, people: People, task: Task):
    shown = {}
    for name in ("config.change", "note.write"):
        page = " ".join(client_of(people.rhea).get(reverse("tool", args=[name])).content.decode().split())
        said = ("Can be looked up", "Is read back", "Guarded by what was seen")
        shown[name] = [page.partition(f"<dt>{one}</dt><dd>")[2].partition("<")[0] for one in said]
    assert shown == {"config.change": ["yes", "yes", "yes"], "note.write": ["no", "no", "no"]}


def test_a_tool_that_only_workers_carry_is_there_too(client_of, people: People, transactional_db):
    now = database_now()
    carries = {"tools": {"far.away": [3]}, "agents": {}}
    Worker.objects.create(name="w", host="h", pid=1, pool="prefork", started_at=now, seen_at=now, carries=carries)
    tools = {one.name: one for one in client_of(people.rhea).get(reverse("tools")).context["tools"]}
    assert (tools["far.away"].version, tools["far.away"].workers, tools["far.away"].contract) == (3, 1, None)
    page = client_of(people.rhea).get(reverse("tool", args=["far.away"])).content.decode()
    assert "1 living worker does" in page


class One(BaseModel):
    text: str


class Two(One):
    loud: bool = False


def _contract(version: int, arguments: type[BaseModel], timeout: float) -> Contract:
    def execute(arguments: object, context: CallContext) -> Answer:
        return Answer()

    return Contract(
        name="t", version=version, arguments=arguments, effect_class=EffectClass.KEYED, execute=execute, timeout=timeout
    )


def test_what_a_version_changed_is_said_line_by_line():
    lines = version_difference(_contract(2, Two, 20.0), _contract(1, One, 10.0))
    assert ("removed", "-timeout: 10.0") in lines
    assert ("added", "+timeout: 20.0") in lines
    assert any(css == "added" and '"loud"' in line for css, line in lines)
    same = tool_newest("note.write")
    assert same is not None
    assert version_difference(same, same) == []


def test_a_tools_page_shows_how_its_effect_class_fared_in_the_newest_drill(client_of, people: People, task, written):  # noqa: F811
    rhea = client_of(people.rhea)
    assert "No drill has tried this class" in rhea.get(reverse("tool", args=["note.write"])).content.decode()
    written([*some(), twice()])
    drills_collect()
    DrillRun.objects.update(workspace=people.workspace)
    shown = rhea.get(reverse("tool", args=["note.write"])).content.decode()
    assert "E04.applied.keyed.kill" in shown
    assert "E04.applied.opaque.kill" not in shown  # another class
    assert "Exactly once" in shown
    DrillRun.objects.update(workspace=people.elsewhere)
    assert "E04.applied" not in rhea.get(reverse("tool", args=["note.write"])).content.decode()
