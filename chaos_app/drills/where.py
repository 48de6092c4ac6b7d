"""Which fault can be made where. Pure."""

from chaos_app.drills.names import Fault

# What happens to a worker cannot happen where a person's process, or the sweeper, is the one that passes.
NO_WORKER = frozenset({"B01", "B02", "A02", "A03", "W01", "W02", "O01"})
OF_A_WORKER = frozenset(
    {
        *(Fault.KILL_WORKER, Fault.KILL_BOTH, Fault.TERM, Fault.TERM_TWICE, Fault.QUIT),
        *(Fault.ZOMBIE, Fault.HANG, Fault.CLOCK),
    }
)
# A message about the task follows here, and can be lost or doubled.
FOLLOWED = frozenset({"B02", "A03", "W01"})
OF_A_MESSAGE = frozenset({Fault.MESSAGE_TWICE, Fault.MESSAGE_LOST})


def why_not(row: str, fault: Fault) -> str:
    """Say why a fault cannot be made where a row lies; "" where it can."""
    if fault in OF_A_WORKER and row in NO_WORKER:
        return "Here a person's process, or the sweeper, passes; no worker is at this place."
    if fault in OF_A_MESSAGE and row not in FOLLOWED:
        return "No message about the task follows from this place."
    return ""
