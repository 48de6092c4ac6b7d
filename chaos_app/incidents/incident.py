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

    id: str = Field(pattern=r"^[A-Z]+-[0-9]+$", description="For example INC-4200.")
    title: str = Field(min_length=1, max_length=200)
    service: str = Field(description="One whose configuration exists outside, for example checkout-api.")
    severity: Literal["low", "minor", "major", "critical"] = "minor"
    opened_at: str = Field(default="", description="For example 2026-05-04T09:30Z.")
    report: str
    suspected_setting: str = Field(description="For example database.pool_size.")
    direction: Literal["raise", "lower"]
    tolerances: dict[str, Tolerance] = Field(description='For example {"database.pool_size": {"min": 10, "max": 60}}.')
    on_call: str = Field(description="A mail address.")
    vendor: str | None = None
    credit_cents: int | None = None
