from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("connectors", "0003_notes_of_pages"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="pollrun",
            name="poll_runs_of_known_outcomes",
        ),
        migrations.AlterField(
            model_name="pollrun",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("running", "under way, or ended by a crash"),
                    ("finished", "read to the end"),
                    ("more", "its time was over; goes on at once"),
                    ("waiting", "pauses until fewer records wait for custody"),
                    ("failed", "failed"),
                    ("overtaken", "the connector was changed, or another worker took over"),
                ],
                default="running",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="pollrun",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["running", "finished", "more", "waiting", "failed", "overtaken"])),
                name="poll_runs_of_known_outcomes",
            ),
        ),
    ]
