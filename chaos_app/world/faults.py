"""Faults: what the outside world can be told to do wrong, as data (pure)."""

from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from chaos_app.world.errors import Refused


class Kind(StrEnum):
    """What happens to the request."""

    DELAY = "delay"  # wait `seconds`, then apply, then answer
    HOLD = "hold"  # park at `at` until released, at most `seconds`
    REFUSE = "refuse"  # answer 4xx (SMTP 550); certainly not applied
    FAIL_BEFORE = "fail_before"  # answer 5xx (SMTP 451); not applied
    FAIL_AFTER = "fail_after"  # apply, answer 5xx (SMTP 451)
    LOSE_ANSWER = "lose_answer"  # apply, then cut the connection
    APPLY_LATE = "apply_late"  # cut (or answer) now; the request arrives at the system `seconds` later
    GARBAGE = "garbage"  # apply, answer something unreadable
    SLOW = "slow"  # apply, then trickle the answer over `seconds`
    PARTIAL = "partial"  # batch only: apply the first `count` items, then answer 5xx
    PLANT = "plant"  # apply, then add a second effect with the same marks, marked as planted
    HIDE = "hide"  # a look-up sees nothing


class At(StrEnum):
    """Where a held request is parked."""

    ARRIVAL = "arrival"  # still in the network: its key is not in use
    BEFORE = "before"  # being processed: its key is in use, nothing applied
    APPLIED = "applied"  # applied and remembered, not answered


Seconds = Annotated[float, Field(ge=0, le=3600)]


class Fault(BaseModel):
    """One thing to do wrong."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: Kind
    seconds: Seconds | None = None
    at: At = At.BEFORE
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    count: Annotated[int, Field(ge=0, le=1000)] = 1
    answer: Literal["cut", "error", "accepted"] | None = None

    @property
    def wait(self) -> float:
        """Seconds to wait: a hold without a figure is bounded by two minutes, so that nothing parks for ever."""
        if self.seconds is not None:
            return self.seconds
        return 120.0 if self.fault is Kind.HOLD else 1.0


class Match(BaseModel):
    """Which arrivals a plan is for; what is not named matches anything."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str | None = None
    business_key: str | None = None
    call: str | None = None
    attempt: int | None = None
    operation: str | None = None
    method: str | None = None
    path: str | None = None
    nth: Annotated[int, Field(ge=1)] = 1

    def fits(self, arrival: dict[str, Any]) -> bool:
        """Whether this arrival is meant. Reads are meant only by a plan that names operation, method or path."""
        if not arrival["acts"] and not (self.operation or self.method or self.path):
            return False
        wanted = self.model_dump(exclude={"nth"}, exclude_none=True)
        return all(arrival[name] == value for name, value in wanted.items())


class Plan(Fault):
    """A fault that waits for its arrival: from the ``nth`` fitting one on, ``times`` times."""

    system: str
    match: Match = Match()
    times: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _hide_is_for_reads(self) -> Self:
        if self.fault is Kind.HIDE and not (self.match.operation or self.match.method or self.match.path):
            raise ValueError("hide is for look-ups: name match.operation, match.method or match.path")
        return self

    def fits(self, arrival: dict[str, Any]) -> bool:
        """Whether this arrival counts for the plan."""
        return arrival["system"] == self.system and self.match.fits(arrival)


def fault_read(text: str) -> Fault:
    """Read the header form, ``lose_answer`` or ``delay; seconds=2``. Raises ``Refused`` (400)."""
    kind, *parameters = [part.strip() for part in text.split(";")]
    given = dict(part.partition("=")[::2] for part in parameters if part)
    try:
        return Fault.model_validate({"fault": kind, **given})
    except ValidationError as error:
        raise Refused(400, "bad_fault", f"World-Fault cannot be read: {first_complaint(error)}") from error


def first_complaint(error: ValidationError) -> str:
    """The first thing that is wrong, in one line."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])
