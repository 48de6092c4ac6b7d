"""Indexes for what people look for: effects by time, what people did, tasks by their end. Made beside the work."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is made concurrently outside of a transaction only

    dependencies = [('tasks_app', '0003_purge')]

    operations = [
        AddIndexConcurrently(
            model_name='call',
            index=models.Index(condition=models.Q(('first_attempt_at__isnull', False)), fields=['workspace', '-first_attempt_at', '-id'], name='call_attempted'),
        ),
        AddIndexConcurrently(
            model_name='event',
            index=models.Index(condition=models.Q(('actor__startswith', 'person:')), fields=['-id'], name='event_of_person'),
        ),
        AddIndexConcurrently(
            model_name='task',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['workspace', '-ended_at'], name='task_ended'),
        ),
    ]
