"""The first five minutes: one drill case that a person plays, task on the left, the outside world on the right."""
