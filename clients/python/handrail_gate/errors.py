"""Why a function was not run. Whatever is raised from here: it did not run, ``ReportLost`` apart."""

from typing import Any


class GateError(Exception):
    """The gate did not let the function run."""

    def __init__(self, detail: str = "", **fields: Any) -> None:
        self.detail = detail or (self.__doc__ or "").strip().split("\n")[0]
        self.fields = fields
        super().__init__(self.detail)


class GateDown(GateError):
    """The gate cannot be reached; the function was not run."""


class GateGarbage(GateError):
    """The gate gave an answer that cannot be understood; the function was not run."""


class GateRefused(GateError):
    """The gate refused the request; the function was not run. ``status``, ``code`` and ``problem`` say why."""

    def __init__(
        self, detail: str = "", *, status: int = 0, code: str = "", problem: dict[str, Any] | None = None
    ) -> None:
        self.status, self.code, self.problem = status, code, problem or {}
        super().__init__(detail)


class GateTimeout(GateError):
    """Nobody has decided in the time that the caller waits; the request stands, the function was not run."""


class GateTooLate(GateError):
    """The permission arrived too late to begin; the function was not run."""


class GateMismatch(GateError):
    """The function does not take the arguments that were approved; it was not run, and the approval not used."""


class GateClosed(GateError):
    """The call was ended without being run. ``state`` says how."""

    def __init__(self, detail: str = "", *, state: str = "") -> None:
        self.state = state
        super().__init__(detail)


class GateDenied(GateClosed):
    """A person, or policy, said no; the function was not run."""


class GateExpired(GateClosed):
    """Nobody decided in time, or the approval became too old; the function was not run."""


class GateUsed(GateError):
    """The call was used already, by another process or an earlier run; the function was not run here."""


class ReportLost(GateError):
    """The function ran, and its report could not be delivered by the deadline: to Handrail the outcome is unknown.

    A person will look and settle it. ``result`` is what the function returned.
    """

    def __init__(self, detail: str = "", *, result: Any = None) -> None:
        self.result = result
        super().__init__(detail)
