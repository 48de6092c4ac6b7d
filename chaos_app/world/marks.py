"""Marks: what a request says about the call it belongs to, even where the system itself ignores it."""

from collections.abc import Callable
from dataclasses import dataclass

from chaos_app.world.errors import Refused

IDEMPOTENCY_KEY = "Idempotency-Key"
KEY = "Handrail-Key"
BUSINESS_KEY = "Handrail-Business-Key"
CALL = "Handrail-Call"
ATTEMPT = "Handrail-Attempt"
FAULT = "World-Fault"
PLANTED = "World-Planted"
SEEDED = "World-Seed"
LONGEST_MARK = 300

Header = Callable[[str], str | None]


@dataclass(frozen=True)
class Marks:
    """Key, business key, call and attempt number as the sender gave them; each may be missing."""

    key: str | None = None
    business_key: str | None = None
    call: str | None = None
    attempt: int | None = None

    def trailers(self) -> dict[str, str]:
        """The marks that an effect can carry with it (git trailers, mail headers)."""
        named = {KEY: self.key, CALL: self.call, BUSINESS_KEY: self.business_key}
        return {name: value for name, value in named.items() if value}


def marks_read(header: Header, *, fallback_key: str | None = None) -> Marks:
    """Read the marks from headers; an ``X-`` before a name is accepted, ``Idempotency-Key`` is a key too.

    Raises ``Refused`` (400) for a mark that is too long, unprintable or an attempt that is no number.
    """
    attempt = _clean(header, ATTEMPT)
    if attempt is not None and not (attempt.isascii() and attempt.isdigit() and len(attempt) < 10):
        raise Refused(400, "bad_header", f"{ATTEMPT} is not a number.")
    return Marks(
        key=_clean(header, IDEMPOTENCY_KEY) or _clean(header, KEY) or fallback_key,
        business_key=_clean(header, BUSINESS_KEY),
        call=_clean(header, CALL),
        attempt=int(attempt) if attempt else None,
    )


def _clean(header: Header, name: str) -> str | None:
    value = header(name) or header(f"X-{name}")
    if value is None:
        return None
    value = value.strip()
    if len(value) > LONGEST_MARK or not value.isprintable():
        raise Refused(400, "bad_header", f"{name} is longer than {LONGEST_MARK} characters or not printable.")
    return value or None
