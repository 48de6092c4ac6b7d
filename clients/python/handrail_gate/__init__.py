"""Run a function only when Handrail's gate lets it: requested, approved, used once, reported. Fails closed."""

from handrail_gate.answers import Call, Opened
from handrail_gate.async_client import AsyncGate
from handrail_gate.bound import Terms
from handrail_gate.client import Gate
from handrail_gate.errors import (
    GateClosed,
    GateDenied,
    GateDown,
    GateError,
    GateExpired,
    GateGarbage,
    GateMismatch,
    GateRefused,
    GateTimeout,
    GateTooLate,
    GateUsed,
    ReportLost,
)
from handrail_gate.execution import Done, Execution, NoEffect, current
from handrail_gate.flows import Wanted

__all__ = [
    "AsyncGate",
    "Call",
    "Done",
    "Execution",
    "Gate",
    "GateClosed",
    "GateDenied",
    "GateDown",
    "GateError",
    "GateExpired",
    "GateGarbage",
    "GateMismatch",
    "GateRefused",
    "GateTimeout",
    "GateTooLate",
    "GateUsed",
    "NoEffect",
    "Opened",
    "ReportLost",
    "Terms",
    "Wanted",
    "current",
]
