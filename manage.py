#!/usr/bin/env python
"""Handrail's command line."""

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")
    try:
        from django.core.management import execute_from_command_line
    except ImportError:
        sys.exit(
            "Django is not installed here. Run `make demo` or `make test`: they create .venv and install everything."
        )
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
