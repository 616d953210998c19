from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("connectors", "0002_fair_polls")]

    operations = [
        migrations.AddField(
            model_name="ledgerrow",
            name="note",
            field=models.CharField(blank=True, default="", help_text="How to ask for a page again.", max_length=2048),
        ),
    ]
