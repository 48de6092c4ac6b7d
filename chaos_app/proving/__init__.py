"""Whether a tool keeps what its contract declares: tried on the tool's own target, counted by that target's ledger."""
