"""How many tries there were before a person sent it again. Old code beside it leaves it alone, and pauses by all of them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('notify', '0003_names_in_the_console'),
    ]

    operations = [
        migrations.AddField(
            model_name='delivery',
            name='tries_before',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='Those before a person sent it again: the pauses are counted from there.'),
        ),
    ]
