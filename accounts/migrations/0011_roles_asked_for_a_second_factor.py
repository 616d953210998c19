from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_sender_keys"),
    ]

    operations = [
        migrations.AlterField(
            model_name="organization",
            name="second_factor_required",
            field=models.BooleanField(
                default=False, help_text="Owners, admins and approvers confirm their sign-in with an authenticator app."
            ),
        ),
    ]
