"""The form with which a person lets an act be done once more: what it means, why, and who may."""

from django.urls import reverse

from core.access import Role
from tasks_app.models import Call, Event, Task
from tasks_app.status import CallState
from tests.people import People, person
from tests.records import call_in


def settled(task: Task) -> str:
    call_in(task, "pay/1", CallState.OK, business_key="pay:one")
    Call.objects.filter(task=task).update(state=CallState.VERIFIED, settled_seq=1)
    return reverse("call-repeat", args=[task.pk, "pay/1"])


def test_a_call_that_holds_the_same_act_back_leads_to_the_form(client_of, people: People, task: Task):
    url = settled(task)
    assert f'href="{url}"' in client_of(people.rhea).get(f"/tasks/{task.pk}/").content.decode()
    shown = client_of(people.rhea).get(url).content.decode()
    assert "it happens twice" in shown
    assert "pay:one" in shown


def test_it_needs_a_reason_and_is_in_the_record_then(client_of, people: People, task: Task):
    url, rhea = settled(task), client_of(people.rhea)
    assert rhea.post(url, {"reason": " "}).status_code == 422
    assert rhea.post(url, {"reason": "The customer lost it."}).status_code == 303
    said = Event.objects.get(stream=task.pk, kind="call.repeat_allowed")
    assert (said.actor, said.data["reason"]) == ("person:rhea", "The customer lost it.")
    assert not Call.objects.get(task=task).holds_business_key
    assert "nothing to allow" in rhea.get(url).content.decode()
    assert f'href="{url}"' not in rhea.get(f"/tasks/{task.pk}/").content.decode()


def test_who_may_not_settle_is_refused_and_outsiders_find_nothing(client_of, people: People, task: Task):
    url, vera = settled(task), client_of(person("vera", people.workspace, Role.VIEWER))
    assert "tasks:settle" in vera.get(url).content.decode()
    assert vera.post(url, {"reason": "mine"}).status_code == 403
    assert client_of(people.tobin).post(url, {"reason": "mine"}).status_code == 404
    assert Call.objects.get(task=task).holds_business_key


def test_what_is_open_or_holds_nothing_is_refused_on_its_own_page(client_of, people: People, task: Task):
    call_in(task, "pay/1", CallState.IN_DOUBT, business_key="pay:one")
    url = reverse("call-repeat", args=[task.pk, "pay/1"])
    assert "nothing to allow" in client_of(people.rhea).get(url).content.decode()
    assert client_of(people.rhea).post(url, {"reason": "now"}).status_code == 409
    assert client_of(people.rhea).get(reverse("call-repeat", args=[task.pk, "no"])).status_code == 404
