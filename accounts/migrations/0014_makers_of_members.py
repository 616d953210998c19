"""The person who gave a member their role, and the key, if it was a key."""

import django.db.models.deletion
from django.db import migrations, models


def name_makers(apps, schema_editor):
    """Take the person from the invitation that the member accepted."""
    members = apps.get_model("accounts", "Member").objects
    accepted = apps.get_model("accounts", "Invite").objects.exclude(accepted_at=None).exclude(maker="")
    for organization_id, email, maker in accepted.values_list("organization_id", "email", "maker").iterator():
        members.filter(organization_id=organization_id, user__email=email).update(maker=maker)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_codes_of_invitations")]

    operations = [
        migrations.AddField(
            model_name="member",
            name="maker",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Mail address of the member who gave the role, also by a key of theirs.",
                max_length=254,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="member",
            name="making_key",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="The key that gave the role, itself or by its invitation.",
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="made_members",
                to="accounts.apikey",
            ),
        ),
        migrations.RunPython(name_makers),
    ]
