"""What a tool of these tests is asked to try."""

from typing import Any

from pydantic import BaseModel

MIB = 1024 * 1024


class Try(BaseModel):
    what: str
    file: dict[str, Any] = {}
    word: str = ""
    number: int = 0
