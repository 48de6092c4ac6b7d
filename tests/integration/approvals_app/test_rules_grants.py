"""Rule 13: standing grants are explicit."""

from datetime import timedelta

import pytest

from approvals_app.models import StandingGrant
from approvals_app.services.grants import grant_revoke
from core.clock import ClockTimestamp
from core.errors import Conflict, Forbidden, InvalidInput
from core.models import Membership
from tasks_app.models import Event
from tests.desk import Desk, as_person, parked, rule
from tests.integration.approvals_app.rules import fresh, grant, used


def test_rule_13_a_grant_answers_this_exact_call_so_often_until_its_end_and_each_use_names_it(desk: Desk):
    given = grant(parked(desk), desk)
    assert parked(desk, arguments={"path": "/scratch/b"}).status == "requested"  # another call
    for _ in range(2):
        request = parked(desk)
        assert (request.status, request.decided_via, request.grant) == ("approved", "grant", given)
        assert used(request)
        consumed = Event.objects.get(stream=request.task_id, kind="approval.consumed")
        assert consumed.data["grant"] == str(given.pk)
    given.refresh_from_db()
    assert given.uses == 2
    assert parked(desk).status == "requested"  # used up


def test_rule_13_a_grant_that_was_revoked_or_has_ended_or_is_used_up_admits_nothing_more(desk: Desk):
    first = grant(parked(desk), desk, uses=1)
    one, two = parked(desk), parked(desk)
    assert used(one)
    assert not used(two)
    assert fresh(two).closed_reason == "the standing grant is used up"
    second = grant(parked(desk), desk)
    three = parked(desk)
    grant_revoke(grant=second.pk, principal=as_person(desk.silas, desk.workspace), reason="enough")
    assert not used(three)
    assert fresh(three).closed_reason == "the standing grant was revoked"
    third = grant(parked(desk), desk)
    four = parked(desk)
    StandingGrant.objects.filter(pk=third.pk).update(
        granted_at=ClockTimestamp() - timedelta(days=2), ends_at=ClockTimestamp() - timedelta(seconds=1)
    )
    assert not used(four)
    assert first.owner == desk.rhea
    told = Event.objects.filter(stream=desk.workspace.pk, kind="grant.changed").count()
    assert told == 4  # given three times, revoked once


def test_rule_13_nobody_grants_their_own_tasks_calls_or_what_several_must_approve(desk: Desk):
    request = parked(desk)
    with pytest.raises(Forbidden, match="own this task"):
        grant(request, desk, principal=as_person(desk.owen, desk.workspace))
    rule(desk, "two", "true", quorum=2)
    with pytest.raises(Conflict, match="several people"):
        grant(parked(desk), desk)
    with pytest.raises(InvalidInput, match="90 days"):
        grant(request, desk, seconds=91 * 86_400)


def test_rule_13_a_grant_whose_owner_lost_the_right_answers_nothing(desk: Desk):
    grant(parked(desk), desk)
    Membership.objects.filter(user=desk.rhea).delete()
    assert parked(desk).status == "requested"
