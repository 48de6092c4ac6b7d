"""An attempt is in flight for as long as it may act, not for as long as nobody has judged it.

At its deadline it is cut, and a second later its process is killed. A quarantined or paused task, which nobody judges,
had kept its call's place under a limit until a person acted on it. ``again``: the call that is sent again, which takes
no place beside its own earlier attempt. Code from before this names none, and is counted as before.
"""

from importlib import import_module

from django.db import migrations

BEFORE: str = import_module("tasks_app.migrations.0005_admission_knows_its_server").Migration.operations[0].sql
COUNTED = "k.state IN ('attempted', 'started')"
IN_FLIGHT = """k.state IN ('attempted', 'started')
            AND (k.state = 'started' OR coalesce(k.deadline, 'infinity') + interval '1 second' > clock_timestamp())
            AND k.id IS DISTINCT FROM (wanted->>'again')::bigint"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0009_names_in_the_console")]
    operations = [migrations.RunSQL(BEFORE.replace(COUNTED, IN_FLIGHT), BEFORE)]
