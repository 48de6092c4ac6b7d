from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chaos_app', '0003_plain_words'),
    ]

    operations = [
        migrations.AddField(
            model_name='drillpin',
            name='target',
            field=models.CharField(
                blank=True, db_default='', default='', help_text="Of an agent of one's own.", max_length=200
            ),
        ),
    ]
