"""What the agent is given: one incident, as its people report it."""

from typing import Literal

from pydantic import BaseModel, Field


class Tolerance(BaseModel):
    """Between which bounds a setting may be changed without asking its owners."""

    min: float
    max: float
    unit: str = ""


class Incident(BaseModel):
    """One incident report. ``vendor`` and ``credit_cents`` come together: who is owed what because of it."""

    id: str = Field(pattern=r"^[A-Z]+-[0-9]+$")
    title: str = Field(min_length=1, max_length=200)
    service: str
    severity: Literal["low", "minor", "major", "critical"] = "minor"
    opened_at: str = ""
    report: str
    suspected_setting: str
    direction: Literal["raise", "lower"]
    tolerances: dict[str, Tolerance]
    on_call: str
    vendor: str | None = None
    credit_cents: int | None = None
