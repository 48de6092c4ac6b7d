"""The copy of a task: which workload makes one, and where it dies in the core. Pure.

A copy is made from between two acts: it takes the first over as it stands, and does the second as its own.
"""

COPIED = "copied"  # the workload
COPY = "copy"  # the role of the copy among the tasks of a case
COPIED_AFTER = "first"  # the call that the copy takes over
# Boundary and position, at the call that the task it was copied from has made too: there that one is the first hit.
FORKS = (("A06", "after"), ("E02", "before_send"), ("E05", "before"))


def is_of_copy(workload: str, hit: int) -> bool:
    """Whether the copy dies in a case: its passages come after those of the task that it was copied from."""
    return workload == COPIED and hit > 1
