"""The tree of domain errors; one table (core/problem.py) maps them to HTTP answers.

Each error carries fields, and its docstring is the first sentence that a person reads. Every
message says what happened, what still holds and what to do.
"""

from typing import Any, ClassVar


class HandrailError(Exception):
    """Something was refused."""

    status: ClassVar[int] = 400
    code: ClassVar[str] = "refused"

    def __init__(self, detail: str = "", **fields: Any) -> None:
        self.detail = detail or (self.__doc__ or "").strip().split("\n")[0]
        self.fields = fields
        super().__init__(self.detail)


class InvalidInput(HandrailError):
    """What was sent does not fit; nothing was changed."""

    status = 422
    code = "invalid-input"


class NotFound(HandrailError):
    """There is no such thing here, or you may not see it."""

    status = 404
    code = "not-found"


class Forbidden(HandrailError):
    """You do not have the right to do this; nothing was changed."""

    status = 403
    code = "forbidden"


class Unauthenticated(HandrailError):
    """Sign in, or send a valid bearer token."""

    status = 401
    code = "unauthenticated"


class Conflict(HandrailError):
    """Somebody or something else was first; nothing was changed."""

    status = 409
    code = "conflict"


class TooLarge(HandrailError):
    """What was sent is too large; nothing was changed."""

    status = 413
    code = "too-large"


class Unavailable(HandrailError):
    """A service that this needs is away; nothing is lost, try again."""

    status = 503
    code = "unavailable"
