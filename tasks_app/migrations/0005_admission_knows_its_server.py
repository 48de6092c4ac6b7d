"""Attempts are refused on a server that is not the one we knew, also before a sweeper has noticed it (C03).

A worker may be connected again before any sweeper: what it attempts then could have been done in commits that this
server has lost.
"""

from importlib import import_module

from django.db import migrations

BEFORE: str = import_module("tasks_app.migrations.0002_append_only").ADMISSION
KNOWN = "SELECT FROM tasks_app_clusteridentity c WHERE c.reconciling"
COMPARED = """SELECT FROM tasks_app_clusteridentity c, pg_control_system() s
            WHERE c.reconciling OR c.system_identifier <> s.system_identifier::text
               OR c.timeline <> ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer"""


def _replacing(statement: str) -> str:
    return statement.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", 1)


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0004_found_by_people")]
    operations = [migrations.RunSQL(_replacing(BEFORE.replace(KNOWN, COMPARED, 1)), _replacing(BEFORE))]
