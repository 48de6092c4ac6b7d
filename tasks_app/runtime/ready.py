"""A call that may act now, with what its tool is told."""

from dataclasses import dataclass
from typing import Any

from tasks_app.contracts import CallContext, Contract
from tasks_app.credentials.granting import Granted
from tasks_app.models import Call
from tasks_app.runtime.session import Session
from tasks_app.status import EffectClass

SEND_SECONDS = 2.0  # an attempt is sent within this time of its commit, or never


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A call that may act now: its attempt, where one is needed, is committed."""

    name: str
    contract: Contract
    arguments: Any
    context: CallContext
    effect_class: EffectClass
    send_by: float | None
    granted: Granted | None = None  # credentials, where its contract names some


def ready_make(
    session: Session, row: Call, contract: Contract, arguments: Any, *, anchor: float, seen: str | None
) -> Ready:
    """Build a ``Ready`` from the call's row. ``anchor``: monotonic clock before the attempt was committed (seconds)."""
    effect = EffectClass(row.effect_class)
    send_by = anchor + SEND_SECONDS if effect != EffectClass.NONE else None
    context = CallContext(
        key=row.key,
        task=str(session.lease.task),
        name=row.name,
        attempt=row.attempts if row.attempted_seq else row.attempts + 1,  # told by its outcome alone
        epoch=session.lease.token.epoch,
        deadline=anchor + SEND_SECONDS + contract.timeout,
        business_key=row.business_key,
        seen=seen,
    )
    return Ready(
        name=row.name, contract=contract, arguments=arguments, context=context, effect_class=effect, send_by=send_by
    )
