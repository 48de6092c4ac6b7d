"""A whole record may be deleted by the owner of the tables, who names it for one transaction; nothing else may."""

from django.db import migrations

# The owner could switch the trigger off anyway; this way it never is off, no other record is touched by mistake, and
# appends go on meanwhile (ALTER TABLE ... DISABLE TRIGGER would lock all of them out).
PURGE = """
CREATE OR REPLACE FUNCTION handrail_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF current_setting('handrail.purge', true) = OLD.stream::text
            AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the record is append-only: % of % is refused', TG_OP, TG_TABLE_NAME
        USING HINT = 'Append a new event. Old whole tasks are removed by "manage.py record purge", by the owner role.';
END $$;
"""
PURGE_UNDO = """
CREATE OR REPLACE FUNCTION handrail_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the record is append-only: % of % is refused', TG_OP, TG_TABLE_NAME
        USING HINT = 'Append a new event. Old whole tasks are removed by "manage.py record purge", by the owner role.';
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0002_append_only")]
    operations = [migrations.RunSQL(PURGE, PURGE_UNDO)]
