from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_pepper")]

    operations = [
        migrations.RenameField("onetimecode", "claimed_until", "lease_until"),
        migrations.AlterField("onetimecode", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.RenameField("invite", "claimed_until", "lease_until"),
        migrations.AlterField("invite", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("onetimecode", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("onetimecode", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("onetimecode", "next_try_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("invite", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("invite", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("invite", "next_try_at", models.DateTimeField(editable=False, null=True)),
    ]
