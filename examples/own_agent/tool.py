"""The tool: one act outside, and everything that a resume needs to know about it.

Its class is *readable*: each note carries the call's key, and ``find`` sees it. After a worker died with an attempt
open, the next one waits until nothing can arrive any more (deadline + lag), looks, and adopts or sends.

If your system removes duplicates by a key that you send, declare "keyed" instead. If it can neither do that nor be
searched for something that you choose, it is "opaque": then a person settles every unknown outcome.
"""

from pydantic import BaseModel, Field

from own_agent import target
from tasks_app.contracts import Absent, Answer, CallContext, CannotTell, Found, LookUp, Observed, Refused
from tasks_app.registry import tool


class Post(BaseModel):
    """The arguments. They are validated, recorded, approved and run exactly as they are."""

    room: str = Field(min_length=1)
    text: str = Field(min_length=1, max_length=1000)


def find(key: str) -> LookUp:
    """Look for the effect by the call's key. What is not certain is ``CannotTell``, never ``Absent``."""
    try:
        notes = target.notes(key=key)
    except target.Away as error:
        return CannotTell(str(error))
    if not notes:
        return Absent()
    note = notes[0]
    return Found(reference=note.number, arguments={"room": note.room, "text": note.text}, result={"key": key})


def verify(wanted: Post, answer: Answer) -> Observed:
    """Read the effect back by a request of its own: exactly one, and as it was intended."""
    notes = target.notes(key=answer.result["key"])
    right = [note for note in notes if (note.room, note.text) == (wanted.room, wanted.text)]
    seen = {"notes": [note.number for note in notes]}
    return Observed(matches=len(notes) == len(right) == 1, seen=seen, reference=right[0].number if right else "")


def preview(wanted: Post) -> str:
    """Say in one line what will happen, for the person who approves it."""
    return f"Post in {wanted.room}: {wanted.text}"


@tool(
    "own.post",
    version=1,
    arguments=Post,
    effect_class="readable",
    timeout=5.0,  # seconds that one attempt may take
    lag=1.0,  # seconds after that in which an accepted request may still take effect, or not be visible yet
    once_per="{room}:{text}",  # two calls with this in common are the same act, however they are worded or named
    sandbox="none",  # leave this and the reason out once your tool speaks to a system over the network (README)
    sandbox_reason="It writes to a file of this machine, which stands in for a system outside.",
    asks=False,  # True: a person approves each call
    find=find,
    verify=verify,
    preview=preview,
    how_to_check="Open the board and look for the text in the room.",
)
def post(wanted: Post, context: CallContext) -> Answer:
    """Act once. Raise ``Refused`` only where there is no effect for certain; any other exception means unknown."""
    try:
        number = target.post(wanted.room, wanted.text, key=context.key, business_key=context.business_key)
    except target.NoSuchRoom as error:
        raise Refused(str(error)) from error
    return Answer(result={"key": context.key}, reference=number)
