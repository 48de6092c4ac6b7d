"""Whether a process is there."""

import os


def process_lives(pid: int | None) -> bool:
    """Tell whether a process of that number is there."""
    if not pid:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
