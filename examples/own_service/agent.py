"""An agent that writes one guest down, through a keyed tool. ``GUESTS_URL`` says where the guest book is.

The headers of the call go with the request: the service knows the key again, and a drill knows whose request it is.
"""

import os
from typing import Any

from pydantic import BaseModel, Field

from tasks_app.contracts import Answer, CallContext, Observed, Refused, Unknown
from tasks_app.criteria import Observation, check, criterion
from tasks_app.decisions import Decision, call, complete, fail
from tasks_app.outside import http_client, looking_client
from tasks_app.registry import agent, tool
from tasks_app.view import TaskView

ADDRESS = "GUESTS_URL"


class Guest(BaseModel):
    """Who comes: the intent of a task and the arguments of the call."""

    guest: str = Field(min_length=1, max_length=200)


def guests(name: str) -> list[dict[str, Any]]:
    """Read who is in the book under a name (no effect)."""
    with looking_client(base_url=os.environ[ADDRESS], timeout=5.0) as client:
        answer = client.get("/guests")
    answer.raise_for_status()
    return [one for one in answer.json()["guests"] if one["name"] == name]


def seen(wanted: Guest, answer: Answer) -> Observed:
    """Read the entry back."""
    found = guests(wanted.guest)
    return Observed(matches=len(found) == 1, seen=found, reference=answer.reference)


@tool(
    "guest.add",
    version=1,
    arguments=Guest,
    effect_class="keyed",  # the service removes duplicates by the Idempotency-Key; contract prove tries it
    timeout=4.0,
    lag=1.0,
    once_per="{guest}",
    asks=False,
    verify=seen,
    sandbox="none",  # leave this and the reason out once your service is elsewhere, and name its host (README)
    sandbox_reason="Its service runs on this machine, at an address that changes with each start.",
    how_to_check="Open the guest book and look for the name.",
)
def guest_add(wanted: Guest, context: CallContext) -> Answer:
    """Write the guest down. A "no" of the service is Refused; what does not say is Unknown."""
    with http_client(context, base_url=os.environ[ADDRESS]) as client:
        answer = client.post("/guests", json={"name": wanted.guest})
    if answer.is_success:
        return Answer(result=answer.json(), reference=str(answer.json()["number"]))
    raise Refused(answer.text) if 400 <= answer.status_code < 500 else Unknown(f"{answer.status_code}: {answer.text}")


@check("guest.is_in")
def is_in(*, guest: str) -> Observation:
    """Hold where the name is in the book exactly once."""
    found = guests(guest)
    return Observation(holds=len(found) == 1, expected=f"one guest {guest!r}", seen=found)


@agent("guest.welcome", version=1, intent=Guest, done_when=[criterion("guest.is_in", guest="{intent.guest}")])
def welcome(view: TaskView) -> Decision:
    """Write the guest down and make sure of it."""
    if view.refused:
        return fail(f"The last decision could not be carried out: {view.refused[0]['reason']}")
    if "add" not in view.calls:
        return call("guest.add", name="add", guest=view.intent["guest"])
    added = view.calls["add"]
    return complete(summary=f"Guest {added.reference}.") if added.ok else fail("The guest book said no.")
