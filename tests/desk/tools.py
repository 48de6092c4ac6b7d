"""Tools that ask, in each way."""

from typing import Any

from pydantic import BaseModel

from tasks_app import registry
from tasks_app.contracts import Answer as ToolAnswer
from tasks_app.contracts import Contract
from tests.here import HERE


class Clean(BaseModel):
    path: str
    deep: bool = False


class Pay(BaseModel):
    amount: str
    to: str = "acme"


def _answer(args: Any, context: Any) -> ToolAnswer:
    return ToolAnswer(result="done")


CLEAN = Contract(
    name="desk.clean",
    version=1,
    arguments=Clean,
    effect_class="keyed",
    execute=_answer,
    **HERE,
    asks=True,
    preview=lambda args: f"Remove everything below {args.path}",
)
PAY = Contract(
    name="desk.pay",
    version=1,
    arguments=Pay,
    effect_class="opaque",
    execute=_answer,
    **HERE,
    risk="high",
    preview=lambda args: f"Pay {args.amount} to {args.to}",
)
SCAN = Contract(name="desk.scan", version=1, arguments=Clean, effect_class="none", execute=_answer, **HERE)
MOVE = Contract(
    name="desk.move",
    version=1,
    arguments=Pay,
    effect_class="keyed",
    execute=_answer,
    **HERE,
    asks=True,
    editable=frozenset({"amount"}),
    preview=lambda args: f"Move {args.amount} to {args.to}",
)
HUSH = Contract(name="desk.hush", version=1, arguments=Clean, effect_class="keyed", execute=_answer, **HERE)
WALLED = Contract(  # nobody runs it: its card has the most to say
    name="desk.walled",
    version=1,
    arguments=Clean,
    effect_class="readable",
    execute=_answer,
    find=lambda args, context: None,
    asks=True,
    network=("configuration.services.example:8443", "localhost:39999"),
    private_network=frozenset({"localhost:39999"}),
    environment=("SERVICES_CONFIGURATION_URL",),
    preview=lambda args: f"Remove everything below {args.path}",
)
for _contract in (CLEAN, PAY, SCAN, MOVE, HUSH, WALLED):
    registry.tool_register(_contract)
