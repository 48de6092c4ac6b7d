"""The form for a call in doubt: what is known, and each answer; too early is refused."""

import re
from typing import Any
from urllib.parse import urljoin

from django.test import Client
from django.urls import reverse

from core.access import Role
from tasks_app.models import Call, Task
from tasks_app.status import CallState
from tests.people import People, person
from tests.records import call_in, kinds, new_task, task_set
from tests.sandbox_tools import box_opaque


def doubt(task: Task, **more: Any) -> str:
    call_in(task, "pay/1", CallState.IN_DOUBT, **more)
    task_set(task, status="in_doubt", wake_at=None, wait={"kind": "signal", "on": ["pay/1"]})
    return reverse("call-settle", args=[task.pk, "pay/1"])


def answer(client: Client, url: str, said: str, **more: str):
    return client.post(url, {"answer": said, "evidence": "looked at the bank", "reference": "", **more})


def test_it_shows_what_was_attempted_and_how_to_check(client_of, people: People, task: Task):
    shown = client_of(people.rhea).get(doubt(task)).content.decode()
    for part in ("nobody can tell", "cents", "look", "What look-ups saw", "key-pay/1", "It did not happen"):
        assert part in shown


def test_it_shows_between_which_walls_its_tool_ran(client_of, people: People, task: Task):
    url = doubt(task)
    Call.objects.filter(task=task).update(tool=box_opaque.name, contract_version=box_opaque.version)
    shown = client_of(people.rhea).get(url).content.decode()
    assert "<dt>Sandbox</dt>" in shown
    assert "400 MiB of memory" in shown


def test_an_address_in_what_its_contract_says_is_a_link_and_nothing_else_is(client_of, people: People, task: Task):
    url = doubt(task, check="Look at http://localhost:8100/#payments. Not at javascript:alert(1).")
    shown = client_of(people.rhea).get(url).content.decode()
    address = "http://localhost:8100/#payments"
    assert f'<a href="{address}" rel="noopener noreferrer">{address}</a>. Not at' in shown
    assert 'href="javascript' not in shown


def test_happened_needs_its_reference_and_lets_the_task_go_on(client_of, people: People, task: Task):
    url, rhea = doubt(task), client_of(people.rhea)
    refused = answer(rhea, url, "happened")
    assert refused.status_code == 422
    assert "Give the reference" in refused.content.decode()
    assert answer(rhea, url, "happened", reference="P-7").status_code == 303
    call = Call.objects.get(task=task)
    assert (call.state, call.reference) == ("happened", "P-7")
    assert Task.objects.get(pk=task.pk).status == "queued"
    assert "it stands" in rhea.get(url).content.decode()


def test_not_happened_is_refused_while_a_late_arrival_is_possible(client_of, people: People, task: Task):
    url, rhea = doubt(task, deadline=60.0, not_before=61.0), client_of(people.rhea)
    assert "Possible from" in rhea.get(url).content.decode()
    refused = answer(rhea, url, "not_happened")
    assert refused.status_code == 409
    assert "may still take effect" in refused.content.decode()
    assert Call.objects.get(task=task).state == "in_doubt"


def test_of_two_answers_the_first_stands_and_the_second_is_shown_it(client_of, people: People, task: Task):
    url = doubt(task)
    assert answer(client_of(people.rhea), url, "unknown").status_code == 303
    refused = answer(client_of(people.silas), url, "not_happened")
    assert refused.status_code == 409
    assert "that answer stands" in refused.content.decode()
    assert kinds(task).count("call.settled") == 1


def test_a_name_that_climbs_is_settled_on_its_own_page_and_never_another_task_s_call(client_of, people, task: Task):
    other = new_task(people.workspace, people.rhea)
    doubt(other)
    name, rhea = f"../../{other.pk}/calls/pay/1", client_of(people.rhea)
    call_in(task, name, CallState.IN_DOUBT)
    shown = rhea.get(reverse("call-settle", args=[task.pk, name])).content.decode()
    (action,) = re.findall(r'data-once action="([^"]+)"', shown)
    as_sent = urljoin("http://here/", action).removeprefix("http://here")
    assert answer(rhea, as_sent, "unknown").status_code == 303
    assert Call.objects.get(task=task).state == "unknown_settled"
    assert Call.objects.get(task=other).state == "in_doubt"


def test_who_may_not_settle_reads_and_is_refused(client_of, people: People, task: Task):
    url, vera = doubt(task), client_of(person("vera", people.workspace, Role.VIEWER))
    assert "needs the right" in vera.get(url).content.decode()
    assert answer(vera, url, "unknown").status_code == 403
    assert client_of(people.tobin).get(url).status_code == 404
