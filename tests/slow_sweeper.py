"""A sweeper that finds much: each look takes longer than half a lease. ``python -m tests.slow_sweeper``."""

import time

from django.conf import settings


def slow() -> None:
    """A finder that takes its time."""
    time.sleep(settings.LEASE_SECONDS * 0.75)


def main() -> None:
    """Sweep until the process is ended."""
    import django

    django.setup()
    from tasks_app.sweeper import Sweeper

    Sweeper(extra=["tests.slow_sweeper.slow"]).run()


if __name__ == "__main__":
    main()
