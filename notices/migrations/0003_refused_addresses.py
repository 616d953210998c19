from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0002_letters_and_deadlines")]

    operations = [
        migrations.AddField(
            model_name="reviewrequest",
            name="refused_at",
            field=models.DateTimeField(help_text="When the mail server refused the address for good.", null=True),
        ),
        migrations.AlterField(
            model_name="reviewrequest",
            name="handled_at",
            field=models.DateTimeField(help_text="When the acknowledgement went out, or was given up.", null=True),
        ),
    ]
