"""Criteria: what must hold outside for a task to be complete. "Done" is what is found there, not what an agent says."""

from own_agent import target
from tasks_app.criteria import Observation, check


@check("own.posted")
def posted(*, room: str, text: str) -> Observation:
    """Hold where the text is in the room exactly once."""
    found = [note.number for note in target.notes() if (note.room, note.text) == (room, text)]
    return Observation(holds=len(found) == 1, expected=f"one note {text!r} in {room}", seen=found)
