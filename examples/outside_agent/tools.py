"""What the web process and the workers know of the agent's tool: its arguments, and what people are asked.

They carry it where ``HANDRAIL_MODULES`` names this module. How the refund is made, only the agent knows.
"""

from pydantic import BaseModel, Field

from tasks_app.registry import outside_tool


class Refund(BaseModel):
    """The arguments; they are validated, shown, approved and given back exactly as they are."""

    order: str = Field(min_length=1, max_length=40)
    amount: str = Field(pattern=r"^\d+\.\d\d$")


REFUND = outside_tool(
    "refund.send",
    arguments=Refund,
    timeout=30.0,
    lag=5.0,
    risk="high",
    reversible=False,
    editable=frozenset({"amount"}),
    once_per="{order}",
    preview=lambda refund: f"Refund {refund.amount} for order {refund.order}",
    how_to_check="Look for the order's number in the ledger of refunds.",
    doc="Sends money back to a customer.",
)
