#!/usr/bin/env python
"""Handrail's command line."""

import os
import sys

OURS = {"core", "tasks_app", "approvals_app", "chaos_app"}


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
    except ModuleNotFoundError as error:
        if os.environ.get("HANDRAIL_MODULES") or (error.name or "").partition(".")[0] in OURS:
            raise
        sys.exit(
            f"The package {error.name} is missing here; .venv is older than the lock files. `make up`, or any other "
            "make target, installs it."
        )
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
