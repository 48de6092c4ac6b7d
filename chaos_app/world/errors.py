"""What the outside world answers when it will not do something."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Refused(Exception):
    """The request was understood well enough to say no; nothing was applied."""

    status: int
    code: str
    detail: str
    extra: dict[str, Any] = field(default_factory=dict)

    def problem(self) -> dict[str, Any]:
        """The answer's body, in the shape of RFC 9457."""
        return {"status": self.status, "code": self.code, "detail": self.detail, **self.extra}


class WorldUnusable(Exception):
    """The world cannot start here; the message says what to do."""
