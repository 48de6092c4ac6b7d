"""An index for whom to tell that it is over: also who may have been told by a try whose answer was lost. Made beside the work.

It serves what the old code asks for as well.
"""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False  # an index is made concurrently outside of a transaction only

    dependencies = [('notify', '0004_pauses_begin_anew')]

    operations = [
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(condition=models.Q(('follows', True), models.Q(('state', 'sent'), models.Q(('state', 'quiet'), ('tries__gt', 1)), _connector='OR')), fields=['id'], name='delivery_to_follow'),
        ),
        RemoveIndexConcurrently(
            model_name='delivery',
            name='delivery_follows',
        ),
    ]
