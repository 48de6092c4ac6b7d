"""What a person may do with a card changes without any event of its task: the card follows all the same."""

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from django.urls import reverse

from approvals_app.live.card_feed import CardFeed, card_state
from approvals_app.live.desk_feed import Beside, DeskFeed
from approvals_app.live.reader import card_reader, desk_reader
from approvals_app.models import ApprovalRequest, ApproverGroup
from core.clock import database_now
from core.models import Membership
from core.step_up import METHODS
from tasks_app.live.parts import PartsFeed
from tasks_app.live.reader import Listener
from tests.desk import Desk, as_person, decide, desk_create, group, parked, rule


@pytest.fixture
def desk(transactional_db: None) -> Desk:
    return desk_create()


@pytest.fixture
def leads(desk: Desk) -> ApproverGroup:
    return group(desk, "leads", desk.silas)


@pytest.fixture
def asked(desk: Desk, leads: ApproverGroup) -> ApprovalRequest:
    rule(desk, "leads", "true", group="leads")
    return parked(desk)


def card_feed(request: ApprovalRequest, user: User) -> CardFeed:
    return CardFeed(approval=request.pk, who=lambda: as_person(user, request.workspace))


def told(feed: PartsFeed) -> str:
    return "".join(str(message["html"]) for message in feed.read().messages)


def test_whoever_joins_the_group_that_is_asked_gets_the_buttons(
    desk: Desk, leads: ApproverGroup, asked: ApprovalRequest
):
    feed = card_feed(asked, desk.rhea)
    assert "you do not belong to it" in told(feed)
    assert told(feed) == ""
    leads.members.add(desk.rhea)
    assert 'value="approved">Approve' in told(feed)
    leads.members.remove(desk.rhea)
    assert "you do not belong to it" in told(feed)


def test_the_card_beside_the_list_follows_too(desk: Desk, leads: ApproverGroup, asked: ApprovalRequest):
    client = Client()
    client.force_login(desk.rhea)
    query = client.get(reverse("approvals"), {"shelf": "team"}).context["live"]
    feed = DeskFeed.of(query, lambda: desk.rhea)
    feed.beside = Beside(asked.pk, card_state(asked, as_person(desk.rhea, desk.workspace)))
    assert "card-send" not in told(feed)
    leads.members.add(desk.rhea)
    assert 'value="approved">Approve' in told(feed)


def test_who_could_decide_instead_is_named_anew(desk: Desk, leads: ApproverGroup, asked: ApprovalRequest):
    feed = card_feed(asked, desk.vera)
    assert "It can be decided by silas." in told(feed)
    leads.members.add(desk.rhea)
    assert "It can be decided by rhea or silas." in told(feed)


def test_an_approval_that_counts_no_more_is_counted_no_more(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    decide(request, desk.silas)
    feed = card_feed(request, desk.rhea)
    assert "1 of 2" in told(feed)
    Membership.objects.filter(user=desk.silas).delete()
    assert "0 of 2" in told(feed)


def test_whoever_loses_the_right_is_offered_no_taking_back(desk: Desk):
    request = parked(desk)
    decide(request, desk.silas)
    feed = card_feed(request, desk.rhea)
    feed.csrf_token = "x" * 64
    assert "Take the approval back" in told(feed)
    Membership.objects.filter(user=desk.rhea, role="approver").update(role="viewer")
    after = told(feed)
    assert f'id="card-after-{request.pk}"' in after
    assert "Take the approval back" not in after


def listening(user: User) -> tuple[Listener, SessionStore]:
    client = Client()
    client.force_login(user)
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    return Listener(cookies=cookies), client.session


def step_up(session: SessionStore, at: float) -> None:
    session[METHODS] = [{"method": "mfa", "at": at}]
    session.save()


def test_a_second_factor_that_was_shown_is_known_where_the_card_is_live(desk: Desk):
    rule(desk, "careful", "true", step_up_within=600.0)
    asked = parked(desk)
    listener, session = listening(desk.rhea)
    card = CardFeed(approval=asked.pk, who=lambda: card_reader(listener, asked.pk), csrf_token="t")
    beside = DeskFeed.of("tab=team", lambda: desk_reader(listener), "t", listener.stepped_up_at)
    beside.beside = Beside(asked.pk, "another")
    for feed in (card, beside):
        assert "you have shown none in this session" in told(feed)
    step_up(session, database_now().timestamp())
    for feed in (card, beside):
        assert "you showed yours" in told(feed)
        assert told(feed) == ""
