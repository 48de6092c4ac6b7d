from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chaos_app', '0004_pins_of_targets'),
    ]

    operations = [
        migrations.AddField(
            model_name='drillrun',
            name='caught',
            field=models.JSONField(
                help_text='Runs of the executor that protects nothing; none: not asked for.', null=True
            ),
        ),
    ]
