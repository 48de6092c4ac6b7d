"""The record: one append-only stream of events a task, the truth that everything else is derived from."""
