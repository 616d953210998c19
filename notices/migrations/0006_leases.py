from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0005_known_writers")]

    operations = [
        migrations.RenameField("delivery", "claimed_until", "lease_until"),
        migrations.AlterField("delivery", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.RenameField("reviewrequest", "claimed_until", "lease_until"),
        migrations.AlterField("reviewrequest", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.RenameField("reminder", "claimed_until", "lease_until"),
        migrations.AlterField("reminder", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("delivery", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("delivery", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("delivery", "next_try_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("reviewrequest", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("reviewrequest", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("reviewrequest", "next_try_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("reminder", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("reminder", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("reminder", "next_try_at", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("approval", "lease_until", models.DateTimeField(editable=False, null=True)),
        migrations.AddField("approval", "lease_token", models.UUIDField(editable=False, null=True)),
        migrations.AddField("approval", "attempts", models.PositiveIntegerField(default=0, editable=False)),
        migrations.AddField("approval", "next_try_at", models.DateTimeField(editable=False, null=True)),
    ]
