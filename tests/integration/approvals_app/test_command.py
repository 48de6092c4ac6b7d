"""``manage.py approval``: the same function as page and API, recorded as made on the server."""

from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command

from tasks_app.models import Event
from tests.desk import Desk, parked, rule


def run(*words: object) -> str:
    out = StringIO()
    call_command("approval", *map(str, words), stdout=out)
    return out.getvalue()


def test_what_waits_is_listed_shown_whole_and_decided_as_a_named_person(desk: Desk):
    request = parked(desk, arguments={"path": "/a\u202e"})
    assert str(request.pk) in run("list")
    shown = run("show", request.pk)
    assert "\\u202e" in shown
    assert "\u202e" not in shown
    assert "denied by rhea" in run("deny", request.pk, "--reason", "no", "--as", "rhea")
    assert "(as before)" in run("deny", request.pk, "--reason", "no", "--as", "rhea")
    event = Event.objects.get(stream=request.task_id, kind="approval.decided")
    assert (event.data["via"], event.data["by"], event.data["reason"]) == ("command", "rhea", "no")
    assert "Nothing waits" in run("list")


def test_of_several_who_must_approve_each_answer_says_that_others_are_needed(desk: Desk):
    rule(desk, "two", "true", quorum=2)
    request = parked(desk)
    first = run("approve", request.pk, "--reason", "seen", "--as", "silas")
    assert first.startswith("approved by silas, of 2 that are needed; it still waits for others:")
    assert run("approve", request.pk, "--reason", "seen", "--as", "rhea").startswith("approved by rhea: ")


def test_a_refusal_is_one_sentence(desk: Desk):
    request = parked(desk)
    for words, sentence in (
        (("approve", request.pk, "--reason", "x", "--as", "owen"), "somebody else has to decide"),
        (("approve", request.pk, "--reason", "x", "--as", "tobin"), "no such approval"),
        (("approve", request.pk, "--reason", "x", "--as", "nobody"), "There is no person 'nobody'"),
        (("approve", request.pk, "--reason", "x", "--as", "rhea", "--digest", "0" * 64), "not the call"),
        (("approve", uuid4(), "--reason", "x", "--as", "rhea"), "There is no approval"),
        (("approve", request.pk, "--as", "rhea"), "--reason"),
    ):
        with pytest.raises(CommandError, match=sentence):
            run(*words)
