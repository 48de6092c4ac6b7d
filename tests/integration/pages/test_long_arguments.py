"""What an agent or a sender wrote at length is cut on pages that only mention it, and the whole is a link away."""

import re

import pytest

from core.templatetags import handrail
from tasks_app.status import CallState
from tests.people import People
from tests.records import call_in, leased, new_task


def test_a_long_intent_is_cut_and_the_whole_is_its_event(client_of, people: People, db: None):
    task = new_task(people.workspace, people.rhea, intent={"note": "x" * 20_000 + "end"})
    rhea = client_of(people.rhea)
    page = rhea.get(f"/tasks/{task.pk}/", {"tab": "input"}).content.decode()
    assert "xend" not in page
    assert f'8,007 more characters not shown here. <a href="/tasks/{task.pk}/?event=1#event-1">' in page
    kept = re.search(
        rf'"(/tasks/{task.pk}/blobs/\w+/)" download', rhea.get(f"/tasks/{task.pk}/?event=1").content.decode()
    )
    assert kept
    assert b"".join(rhea.get(kept[1])).endswith(b"xend")  # type: ignore[arg-type]


def test_long_arguments_of_a_call_in_doubt_are_cut_and_the_whole_is_the_event_that_planned_it(
    client_of, people: People, db: None, monkeypatch: pytest.MonkeyPatch
):
    task = leased(new_task(people.workspace, people.rhea))
    call = call_in(task, "pay", CallState.IN_DOUBT, deadline=-3600.0)
    monkeypatch.setattr(handrail, "SHOWN_CHARACTERS", len("cents1"))
    page = client_of(people.rhea).get(f"/tasks/{task.pk}/calls/pay/settle/").content.decode()
    seq = call.intended_seq
    assert f'2 more characters not shown here. <a href="/tasks/{task.pk}/?event={seq}#event-{seq}">' in page
    assert '<td role="cell"><code class="value">1</code></td>' in page
