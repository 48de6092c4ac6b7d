"""Append-only by trigger, and the function that admits attempts."""

from django.db import migrations

APPEND_ONLY = """
CREATE FUNCTION handrail_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the record is append-only: % of % is refused', TG_OP, TG_TABLE_NAME
        USING HINT = 'Append a new event. Old whole tasks are removed by "manage.py record purge", by the owner role.';
END $$;
CREATE TRIGGER event_append_only BEFORE UPDATE OR DELETE ON tasks_app_event
    FOR EACH ROW EXECUTE FUNCTION handrail_refuse_change();
CREATE TRIGGER event_no_truncate BEFORE TRUNCATE ON tasks_app_event
    FOR EACH STATEMENT EXECUTE FUNCTION handrail_refuse_change();
"""
APPEND_ONLY_UNDO = """
DROP TRIGGER event_append_only ON tasks_app_event;
DROP TRIGGER event_no_truncate ON tasks_app_event;
DROP FUNCTION handrail_refuse_change();
"""

# Each query of a volatile function sees what was committed before it: the switches are read after the
# shared lock is held, so that setting one (exclusive lock) and committing an attempt are ordered.
ADMISSION = """
CREATE FUNCTION handrail_admission(task_workspace uuid, task_agent text, wanted jsonb) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    wanted_tool text;
    most integer;
    busy integer;
    stop record;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(7201);
    SELECT s.scope, s.name INTO stop FROM tasks_app_stopswitch s
        WHERE s.scope = 'all'
           OR (s.workspace_id = task_workspace AND (
                s.scope = 'workspace'
                OR (s.scope = 'agent' AND s.name = task_agent)
                OR (s.scope = 'tool' AND wanted->'attempts' ? s.name)))
        LIMIT 1;
    IF FOUND THEN
        RETURN 'stopped: ' || stop.scope || ' ' || stop.name;
    END IF;
    IF EXISTS (SELECT FROM tasks_app_clusteridentity c WHERE c.reconciling) THEN
        RETURN 'stopped: reconciling';
    END IF;
    FOR wanted_tool, most IN SELECT key, value::integer FROM jsonb_each_text(wanted->'tool_limits') LOOP
        PERFORM pg_advisory_xact_lock(7202, hashtext(wanted_tool));
        SELECT count(*) INTO busy FROM tasks_app_call k
            WHERE k.tool = wanted_tool AND k.state IN ('attempted', 'started');
        IF busy + (wanted->'attempts'->>wanted_tool)::integer > most THEN
            RETURN 'limit: tool ' || wanted_tool;
        END IF;
    END LOOP;
    IF wanted->>'agent_limit' IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(7203, hashtext(task_agent));
        SELECT count(*) INTO busy FROM tasks_app_call k JOIN tasks_app_task t ON t.id = k.task_id
            WHERE t.agent = task_agent AND k.state IN ('attempted', 'started');
        SELECT busy + coalesce(sum(value::integer), 0) INTO busy FROM jsonb_each_text(wanted->'attempts');
        IF busy > (wanted->>'agent_limit')::integer THEN
            RETURN 'limit: agent ' || task_agent;
        END IF;
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0001_initial")]
    operations = [
        migrations.RunSQL(APPEND_ONLY, APPEND_ONLY_UNDO),
        migrations.RunSQL(ADMISSION, "DROP FUNCTION handrail_admission(uuid, text, jsonb);"),
    ]
