import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_sender_keys"),
        ("custody", "0010_one_index_of_objects"),
        ("decisions", "0004_disposals"),
    ]

    operations = [
        migrations.AlterField(
            model_name="decision",
            name="organization",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="accounts.organization",
            ),
        ),
    ]
