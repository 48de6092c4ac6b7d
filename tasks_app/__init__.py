"""Tasks: the record, the runtime, tool contracts, recovery, and their pages."""
