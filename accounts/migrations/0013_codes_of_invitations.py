import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_lineage"),
    ]

    operations = [
        migrations.AddField(
            model_name="onetimecode",
            name="invite",
            field=models.ForeignKey(
                help_text="The invitation it accepts.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="codes",
                to="accounts.invite",
            ),
        ),
    ]
