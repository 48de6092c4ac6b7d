"""The test database: flushed between tests, also past the triggers that keep a record append-only."""

import subprocess
import sys

import psycopg
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection, transaction


@pytest.mark.django_db(transaction=True)
def test_a_child_process_sees_the_rows_that_a_test_committed(child_environment):
    User.objects.create_user("ada")
    code = "from django.contrib.auth.models import User; print(User.objects.get().username)"
    result = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        env=child_environment,
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == "ada", result.stderr


@pytest.mark.django_db(transaction=True)
def test_the_flush_empties_a_table_whose_truncate_is_refused():
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'append-only'; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER keep BEFORE TRUNCATE ON auth_user FOR EACH STATEMENT EXECUTE FUNCTION refuse_it()"
        )
    try:
        User.objects.create_user("ada")
        with pytest.raises(Exception, match="append-only"), transaction.atomic():
            connection.cursor().execute("TRUNCATE auth_user CASCADE")
        call_command("flush", interactive=False, inhibit_post_migrate=True)
        assert not User.objects.exists()
    finally:
        connection.cursor().execute("DROP FUNCTION refuse_it() CASCADE")


def test_private_servers_can_be_killed_and_come_back_with_their_rows(private_services):
    services = private_services()
    with psycopg.connect(services.database_url, autocommit=True) as first:
        first.execute("CREATE TABLE kept AS SELECT 7 AS n")
    services.postgres.kill()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(services.database_url)
    services.postgres.start()
    with psycopg.connect(services.database_url) as again:
        assert again.execute("SELECT n FROM kept").fetchone() == (7,)
