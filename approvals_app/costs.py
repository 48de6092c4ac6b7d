"""What a call costs, as its contract says: a number, or a function of the arguments. Policy and people read it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tasks_app.contracts import Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """``amount``: None where the contract states none. ``failed``: why nobody can tell."""

    amount: float | None = None
    failed: str = ""

    def subject(self) -> dict[str, float | None]:
        """Return it as conditions speak of it: one that reads what nobody can tell fails."""
        return {} if self.failed else {"cost": self.amount}

    def kept(self) -> dict[str, Any]:
        """Return it as it is kept with a request and its call."""
        if self.failed:
            return {"cost_failed": self.failed}
        return {} if self.amount is None else {"cost": self.amount}


def call_cost(contract: Contract, arguments: Mapping[str, Any]) -> Cost:
    """Return what a call with these arguments costs; never raises."""
    if contract.cost is None:
        return Cost()
    try:
        said = contract.cost
        return Cost(amount=_amount(said(contract.arguments.model_validate(arguments)) if callable(said) else said))
    except Exception as error:  # of the tool's own code; its text may hold anything
        return Cost(failed=f"the cost of {contract.name} could not be told: {type(error).__name__}")


def _amount(said: object) -> float | None:
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float | Decimal):
        raise TypeError
    amount = float(said)
    if not math.isfinite(amount):
        raise ValueError
    return amount
