"""An index for what a model saw: few events of a long record. Made beside the work."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is made concurrently outside of a transaction only

    dependencies = [('tasks_app', '0006_credentials')]

    operations = [
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(condition=models.Q(('kind', 'context.selected')), fields=['stream', 'seq'], name='event_context'),
        ),
    ]
