"""The demo: ten incidents, a real outside world, and, with ``--once``, workers that are killed while they work."""
