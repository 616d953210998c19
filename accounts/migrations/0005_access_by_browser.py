from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_makers_of_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="onetimecode",
            name="browser",
            field=models.CharField(
                default="", help_text="Digest of the cookie of the browser in which the code works.", max_length=64
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="confirmed_at",
            field=models.DateTimeField(help_text="When the second factor followed.", null=True),
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="known",
            field=models.BooleanField(default=False, help_text="Whether a code of this address was used there before."),
        ),
        migrations.AddField(
            model_name="onetimecode",
            name="new_secret",
            field=models.TextField(blank=True, help_text="Of the app to enrol at the second factor. Encrypted."),
        ),
        migrations.AddField(
            model_name="organization",
            name="onboarding_dismissed",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="organization",
            name="onboarding_opened",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="organization",
            name="onboarding_verified",
            field=models.BooleanField(default=False),
        ),
    ]
