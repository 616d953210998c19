from django.db import migrations, models


class Migration(migrations.Migration):
    """A notice whose decision is disposed of keeps its row, which lists do not show."""

    dependencies = [
        ("notices", "0006_leases"),
    ]

    operations = [
        migrations.AddField(
            model_name="notice",
            name="disposed_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
