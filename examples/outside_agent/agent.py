"""Ask for a refund, wait until somebody has decided, make it, report it. Run it: see ``examples/README.md``."""

import json
import os
import sys
from pathlib import Path

from handrail_gate import Done, Gate, GateError, current

LEDGER = Path(os.environ.get("REFUNDS", "refunds.jsonl"))
GATE = Gate(os.environ.get("HANDRAIL_URL", "http://localhost:8000"), os.environ["HANDRAIL_TOKEN"])


@GATE.approved(
    tool="refund.send",
    reason="The customer has sent the parcel back.",
    title="Refund an order",
    key=lambda arguments: f"refund {arguments['order']}",
)
def refund(order: str, amount: str) -> Done:
    """Make the refund: here a line in a file, which carries the call's key."""
    line = {"order": order, "amount": amount, "key": current().key}
    with LEDGER.open("a") as ledger:
        ledger.write(json.dumps(line) + "\n")
    return Done(result={"written": True}, reference=f"{LEDGER.name}: {order}")


if __name__ == "__main__":
    order, amount = sys.argv[1:3] if len(sys.argv) > 2 else ("A-1001", "25.00")
    print(f"Asked for a refund of {amount} for {order}; somebody has to decide it on the desk.")
    try:
        print("Done:", refund(order=order, amount=amount))
    except GateError as error:
        sys.exit(f"Not done: {error}")
