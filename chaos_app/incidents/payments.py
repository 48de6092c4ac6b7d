"""Payments: an *opaque* tool. This provider has no idempotency and no look-up, so an unknown outcome needs a person.

It asks a person before it acts, too: that is the default of its class. To make such a tool readable, the provider
would have to let us search for something that we choose, a memo for example; the key is in the memo already, for the
person who must find out.
"""

from pydantic import BaseModel, Field

from chaos_app.incidents.outside import LAG, TIMEOUT, post
from chaos_app.incidents.walls import WEB, look_at, reaching
from tasks_app.contracts import Answer, CallContext, EffectClass
from tasks_app.registry import tool


class Credit(BaseModel):
    """What is owed to a vendor."""

    payee: str = Field(min_length=1, max_length=200)
    cents: int = Field(gt=0, le=100_000_000)
    currency: str = Field(default="EUR", pattern=r"^[A-Z]{3}$")
    memo: str = Field(max_length=300)


def credit_preview(wanted: Credit) -> str:
    """Say what will happen, and what is added to the memo: the bank's customer reads it there."""
    sent = f"{wanted.memo} [our reference]"
    return (
        f"Pay {wanted.cents / 100:,.2f} {wanted.currency} to {wanted.payee}, memo: {sent}, by which it is found again"
    )


@tool(
    "vendor.credit",
    arguments=Credit,
    effect_class=EffectClass.OPAQUE,
    timeout=TIMEOUT,
    lag=LAG,
    risk="high",
    reversible=False,
    once_per="{id}:{payee}",
    resource="payments/{payee}",
    preview=credit_preview,
    how_to_check="Look at the payments of the bank for this payee, amount and memo; the memo ends with the call's key."
    + look_at("payments"),
    **reaching(WEB),
)
def vendor_credit(wanted: Credit, context: CallContext) -> Answer:
    """Pay. Each request pays: there is no second try by itself, whatever happens to the answer."""
    paid = post(context, "/payments", {**wanted.model_dump(), "memo": f"{wanted.memo} [{context.key}]"})
    return Answer(result={"payment": paid["id"]}, reference=paid["id"])
