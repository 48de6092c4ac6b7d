"""Migrations say what the models say, and are safe to run while the code before them still serves."""

import io

import pytest
from django.core.management import call_command
from django_migration_linter import MigrationLinter

pytestmark = pytest.mark.django_db


def test_the_migrations_make_what_the_models_declare():
    out = io.StringIO()
    try:
        call_command("makemigrations", check=True, dry_run=True, interactive=False, stdout=out)
    except SystemExit:
        pytest.fail(f"A migration is missing:\n{out.getvalue()}")


@pytest.mark.django_db(transaction=True)  # an index that is made concurrently is none inside a transaction
def test_no_migration_breaks_the_code_that_still_serves(settings, capsys):
    ours = [
        "core",
        "tasks_app",
        "approvals_app",
        "notify",
        "chaos_app",
    ]  # those of libraries ran before our code served
    linter = MigrationLinter(
        path=str(settings.BASE_DIR), include_apps=ours, no_cache=True, ignore_initial_migrations=True
    )
    linter.lint_all_migrations()
    assert linter.nb_total > 0
    assert not linter.has_errors, capsys.readouterr().out
