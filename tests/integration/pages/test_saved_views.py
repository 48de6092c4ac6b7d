"""A filter kept under a name: its owner's alone, said above the list."""

import re

from django.test import Client
from django.urls import reverse

from tasks_app.models import SavedView
from tasks_app.services import saved_views
from tests.people import People


def links(client: Client, **query: str) -> list[str]:
    shown = client.get(reverse("tasks"), query).content.decode()
    found = re.search(r'aria-label="Saved views"><ul>(.*?)</ul>', shown)
    return re.findall(r"<li>(.*?)</li>", found[1]) if found else []


def save(client: Client, **given: str):
    return client.post(reverse("saved-view-add"), given, follow=True)


def test_a_filter_is_kept_leads_to_the_list_and_is_marked_where_it_is_set(client_of, people: People):
    silas = client_of(people.silas)
    assert "Save this view" not in silas.get(reverse("tasks")).content.decode()
    assert "Save this view" in silas.get(reverse("tasks"), {"status": "failed"}).content.decode()
    given = {"status": "failed", "since": "2026-03-01T12:00", "owner": "rhea"}
    assert "is kept" in save(silas, name="Rhea\u202e's failures", **given).content.decode()
    (link,) = links(silas)
    assert "status=failed" in link
    assert "since=2026-03-01T12%3A00" in link
    assert "\\u202e" in link
    assert "aria-current" in links(silas, **given)[0]
    assert "Forget this view" in silas.get(reverse("tasks"), given).content.decode()


def test_it_is_seen_and_forgotten_by_its_owner_alone(client_of, people: People):
    save(client_of(people.silas), name="Mine", owner="silas")
    view = SavedView.objects.get()
    rhea = client_of(people.rhea)
    assert links(rhea) == []
    rhea.post(reverse("saved-view-forget", args=[view.pk]))
    assert SavedView.objects.exists()
    client_of(people.silas).post(reverse("saved-view-forget", args=[view.pk]))
    assert not SavedView.objects.exists()


def test_what_cannot_be_kept_is_said(client_of, people: People, monkeypatch):
    silas = client_of(people.silas)
    assert "no filter is set" in save(silas, name="All").content.decode()
    assert "is required" in save(silas, name=" ", owner="rhea").content.decode()
    monkeypatch.setattr(saved_views, "MOST", 1)
    save(silas, name="One", owner="rhea")
    save(silas, name="One", owner="silas")
    assert SavedView.objects.get().query == {"owner": "silas"}
    assert "forget one first" in save(silas, name="Two", owner="rhea").content.decode()


def test_a_name_that_was_refused_stands_in_its_form_beside_the_filter(client_of, people: People, monkeypatch):
    monkeypatch.setattr(saved_views, "MOST", 0)
    answer = save(client_of(people.silas), name='My "own"', owner="rhea", status="failed")
    shown = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="My &quot;own&quot;"' in shown
    assert "data-menu open" in shown
    assert '<input type="hidden" name="owner" value="rhea">' in shown
    assert f'method="get" action="{reverse("tasks")}"' in shown  # the page stands at another address


def test_back_at_the_list_the_address_has_the_filter_and_nothing_else_that_was_sent(client_of, people: People):
    silas = client_of(people.silas)
    sent = {"owner": "rhea", "since": "2026-03-01T12:00", "before": "x", "page": "9", "name": "Mine", "next": "//evil"}
    sent |= {"csrfmiddlewaretoken": "t", "workspace": "harbour"}
    back = reverse("tasks") + "?owner=rhea&since=2026-03-01T12%3A00"
    assert silas.post(reverse("saved-view-add"), sent)["Location"] == back
    view = SavedView.objects.get()
    assert silas.post(reverse("saved-view-forget", args=[view.pk]), sent)["Location"] == back
