#!/usr/bin/env python
"""Handrail's command line."""

import os
import sys


def main() -> None:
    """Run one management command."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "core.settings")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import OperationalError

        from core.database_trouble import AWAY, database_trouble
        from core.embedded.errors import EmbeddedError
    except ImportError:
        sys.exit(
            "Handrail's packages are not installed here. Run `make demo` or `make test`: they create .venv and install "
            "everything; then use .venv/bin/python manage.py."
        )
    try:
        execute_from_command_line(sys.argv)
    except (EmbeddedError, ImproperlyConfigured) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
    except OperationalError as error:
        trouble = database_trouble(error)
        if trouble is None:  # the server answered, and what it said is another matter
            raise
        todo = "Start everything with `make up` or `make demo`, or set DATABASE_URL to a database that runs."
        sys.exit(f"{trouble} ({str(error).strip()})\nNothing was changed. {todo if trouble == AWAY else ''}".rstrip())


if __name__ == "__main__":
    main()
