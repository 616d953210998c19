import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("notices", "0003_refused_addresses"),
    ]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="sender",
            field=models.TextField(
                help_text="The contact in the letter's head. None: from before it was sealed with the notice.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="approval",
            name="words_named",
            field=models.BooleanField(
                help_text="Whether the approver said which revision they had read. None: from before that was kept.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="noticesettings",
            name="require_other_key",
            field=models.BooleanField(
                default=False, help_text="An API key does not approve what it, or another key of its maker, wrote."
            ),
        ),
        migrations.AddField(
            model_name="phrase",
            name="authors",
            field=models.JSONField(
                default=dict,
                editable=False,
                help_text="Who wrote sentence and label as they are, and who withheld the field.",
            ),
        ),
        migrations.AlterField(
            model_name="step",
            name="kind",
            field=models.CharField(
                choices=[
                    ("submitted", "Submitted"),
                    ("changes_requested", "Changes Requested"),
                    ("readdressed", "Readdressed"),
                    ("withdrawn", "Withdrawn"),
                ],
                max_length=20,
            ),
        ),
        migrations.CreateModel(
            name="Contributor",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("words", "drafted or edited it"),
                            ("phrase", "wrote a phrase that it uses"),
                            ("waiver", "said that an element which blocks does not apply"),
                        ],
                        max_length=8,
                    ),
                ),
                ("actor_kind", models.CharField(max_length=16)),
                ("actor_id", models.CharField(max_length=64)),
                (
                    "mail",
                    models.CharField(
                        blank=True, help_text="Of the member behind it, also where it was a key.", max_length=254
                    ),
                ),
                (
                    "notice",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="contributors",
                        to="notices.notice",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("notice", "part", "actor_kind", "actor_id"), name="contributors_once"
                    )
                ],
            },
        ),
    ]
