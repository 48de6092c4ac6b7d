"""The stages of the guided run, and what the strip says at each. Pure: no Django."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage. ``do``: the order that a person may give, "" where they only watch; ``button`` its words."""

    name: str
    step: int
    title: str
    says: str
    do: str = ""
    button: str = ""
    danger: bool = False


STEPS = ("Approve a change", "Kill its worker", "Record what happened", "See it end", "Run it without protection")
STAGES = {
    stage.name: stage
    for stage in (
        Stage(
            name="starting",
            step=0,
            title="A small world of its own is starting",
            says="Two workers, a database and an outside world, for this run alone. It takes about half a minute.",
        ),
        Stage(
            name="reading",
            step=1,
            title="The agent reads the incident",
            says="It opens a ticket, reads the configuration and proposes a change. Nothing else happens without you.",
        ),
        Stage(
            name="change",
            step=1,
            title="The agent asks to change the configuration",
            says="It waits, and holds no worker meanwhile. Say yes, and look to the right: the change appears there.",
            do="approve",
            button="Approve the change",
        ),
        Stage(
            name="pay",
            step=1,
            title="It also asks to pay a vendor",
            says="This bank has no idempotency and no look-up: sent twice, it pays twice. Approve it all the same.",
            do="approve",
            button="Approve the payment",
        ),
        Stage(
            name="paying",
            step=2,
            title="The payment is on its way",
            says="The attempt is committed before the first byte leaves.",
        ),
        Stage(
            name="applied",
            step=2,
            title="Payment applied, answer lost",
            says="The bank has paid, as you see on the right; the answer is held on its way. The worker knows nothing.",
            do="kill",
            button="Kill this worker now",
            danger=True,
        ),
        Stage(
            name="takeover",
            step=3,
            title="The worker is dead",
            says="The next worker takes the task over. It must not pay again, and it cannot look the payment up.",
        ),
        Stage(
            name="look",
            step=3,
            title="Outcome unknown: needs you",
            says="The next worker went on where the record ends, repeated nothing, and asks. Look to the right: was it"
            " paid, and under which number?",
            do="settle",
            button="Record what happened",
        ),
        Stage(
            name="finishing",
            step=4,
            title="The task goes on with what you recorded",
            says="It tells the person on call by mail, and checks every criterion outside before it believes itself.",
        ),
        Stage(
            name="protected",
            step=5,
            title="One ticket, one change, one payment, one mail",
            says="Count them on the right. Now let an executor that protects nothing do the same payment, and lose its"
            " worker at the same place.",
            do="unprotected",
            button="Run the same without protection",
            danger=True,
        ),
        Stage(
            name="unprotected",
            step=5,
            title="The executor without protection pays",
            says="Its worker is killed once the payment is applied. It starts again, and knows nothing of the first.",
        ),
        Stage(
            name="over",
            step=6,
            title="Without protection: two payments. With Handrail: one",
            says="The same bank, the same death. You have seen the whole idea. What you did stands on the left under"
            " the name of silas: the run brings people of its own along.",
        ),
        Stage(
            name="failed",
            step=6,
            title="The guided run ended early",
            says="Nothing outside of it was touched. Start it again; if it ends again, its log says why.",
        ),
    )
}
ENDS = frozenset({"over", "failed"})
