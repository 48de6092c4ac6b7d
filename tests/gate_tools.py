"""Tools that only agents outside execute, as the web process of a test carries them."""

from pydantic import BaseModel

from tasks_app.registry import outside_tool


class Note(BaseModel):
    text: str
    room: str = "hall"


for name, seconds in (("gate.note", 20.0), ("gate.quick", 0.5)):
    outside_tool(name, arguments=Note, timeout=seconds, lag=0.2, editable=frozenset({"text"}))
