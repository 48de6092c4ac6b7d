"""What to change: the one judgement in this work. Everything else is procedure, and stays in the agent."""

from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import BaseModel, Field

from chaos_app.incidents import words
from chaos_app.incidents.config import setting_of
from chaos_app.incidents.incident import Incident
from tasks_app.view import TaskView


class Proposal(BaseModel):
    """One setting and the value it should have."""

    setting: str
    value: float
    reason: str = Field(
        description="why, for the person who must approve it, with the figures of the report that speak for it"
    )


class Policy(Protocol):
    """Reads the report and the configuration, proposes one change inside the incident's tolerances."""

    def propose(self, view: TaskView, incident: Incident, values: Mapping[str, Any]) -> Proposal:
        """Return what should be changed. ``values``: the service's whole configuration."""
        ...


class ScriptedPolicy:
    """Doubles or halves the suspected setting, within its tolerance: always the same answer, and no model needed."""

    def propose(self, view: TaskView, incident: Incident, values: Mapping[str, Any]) -> Proposal:
        """See Policy."""
        name = incident.suspected_setting
        now = setting_of(values, name)
        wanted = now * 2 if incident.direction == "raise" else now / 2
        value = within(incident, name, wanted)
        reason = words.change_reason(incident, name, was=now, value=type(now)(value))
        return Proposal(setting=name, value=value, reason=reason)


def within(incident: Incident, setting: str, value: float) -> float:
    """Return the value that is nearest to ``value`` inside the setting's tolerance. Raises KeyError for another."""
    tolerance = incident.tolerances[setting]
    return min(max(value, tolerance.min), tolerance.max)


def outside_tolerance(incident: Incident, proposal: Proposal) -> str:
    """Say why a proposal may not be made, or return an empty text."""
    tolerance = incident.tolerances.get(proposal.setting)
    if tolerance is None:
        return f"{proposal.setting} may not be changed; only {', '.join(incident.tolerances)} may."
    if not tolerance.min <= proposal.value <= tolerance.max:
        return f"{proposal.setting} must be between {tolerance.min:g} and {tolerance.max:g} {tolerance.unit}."
    return ""
