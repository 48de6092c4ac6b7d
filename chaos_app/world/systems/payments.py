"""Payments: opaque. Each request pays; nothing can be looked up, except by a person on the page."""

import time
from typing import Annotated

from pydantic import Field

from chaos_app.world.operation import Operation
from chaos_app.world.outside import Outside
from chaos_app.world.storage import Row, Storage
from chaos_app.world.visit import Input, Reply, Visit

SYSTEM = "payments"


class NewPayment(Input):
    """An order to pay; ``cents`` in the smallest unit of the currency."""

    payee: Annotated[str, Field(min_length=1, max_length=200)]
    cents: Annotated[int, Field(gt=0, le=100_000_000)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "EUR"
    memo: Annotated[str, Field(max_length=1000)] = ""


def payment_make(outside: Outside, visit: Visit) -> Reply:
    """Pay. The marks are counted by the witness and mean nothing to this system."""
    new = visit.read(NewPayment)
    row_id = outside.storage.run(
        "INSERT INTO payment (at, payee, cents, currency, memo, planted) VALUES (?, ?, ?, ?, ?, ?)",
        *(time.time(), new.payee, new.cents, new.currency, new.memo, visit.planted),
    )
    outside.ledger.effect(visit, reference=f"P-{row_id}", arguments=visit.arguments)
    return Reply(201, {"id": f"P-{row_id}", "payee": new.payee, "cents": new.cents, "currency": new.currency})


def payments_shown(storage: Storage) -> list[Row]:
    """Payments for the page, oldest first."""
    rows = storage.select("payment")
    return [row | {"id": f"P-{row['id']}", "planted": bool(row["planted"])} for row in rows]


OPERATIONS = [Operation(SYSTEM, "pay", "POST", "/payments", payment_make)]
