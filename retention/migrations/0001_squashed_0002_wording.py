import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("retention", "0001_initial"), ("retention", "0002_wording")]

    initial = True

    dependencies = [("accounts", "0001_squashed_0017_wording")]

    operations = [
        migrations.CreateModel(
            name="Policy",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("days", models.PositiveIntegerField()),
                ("note", models.CharField(blank=True, max_length=1000)),
                (
                    "share_percent",
                    models.PositiveSmallIntegerField(
                        default=5,
                        help_text="Of the organization's records, how many a daily run may free without asking.",
                    ),
                ),
                ("created_by", models.CharField(max_length=300)),
                ("created_at", models.DateTimeField()),
                ("shortens", models.BooleanField()),
                (
                    "announced_at",
                    models.DateTimeField(help_text="When the first owner was notified of a shorter period.", null=True),
                ),
                (
                    "begins_at",
                    models.DateTimeField(help_text="For the daily run. Empty until an owner was notified.", null=True),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "retention",
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "number"), name="policies_are_numbered"),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="policies_are_numbered_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("days__gte", 1), ("days__lte", 36500)), name="policy_days_are_bounded"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("share_percent__gte", 1), ("share_percent__lte", 100)),
                        name="policy_shares_are_percentages",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("announced_at", None), ("begins_at__isnull", False), ("shortens", False)),
                            models.Q(("announced_at", None), ("begins_at", None), ("shortens", True)),
                            models.Q(
                                ("announced_at__isnull", False),
                                ("begins_at__isnull", False),
                                ("shortens", True),
                                ("begins_at__gt", models.F("announced_at")),
                            ),
                            _connector="OR",
                        ),
                        name="what_shortens_is_announced_first",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("policy", models.PositiveIntegerField(help_text="The number of the policy.")),
                ("days", models.PositiveIntegerField()),
                ("kind", models.CharField(choices=[("daily", "daily run"), ("command", "command")], max_length=8)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "running"),
                            ("asks", "waits for an owner"),
                            ("finished", "finished"),
                            ("stopped", "stopped"),
                        ],
                        default="running",
                        max_length=8,
                    ),
                ),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "cursor",
                    models.UUIDField(help_text="The root of the last family that it has gone through.", null=True),
                ),
                ("considered", models.PositiveIntegerField(default=0)),
                ("disposed", models.PositiveIntegerField(default=0)),
                ("records", models.PositiveIntegerField(default=0, help_text="Of the families that were disposed of.")),
                ("held", models.PositiveIntegerField(default=0)),
                ("kept_by_floor", models.PositiveIntegerField(default=0)),
                ("with_obstacle", models.PositiveIntegerField(default=0)),
                (
                    "candidates",
                    models.PositiveIntegerField(help_text="How many families it would free, when it asks.", null=True),
                ),
                ("confirmed_by", models.CharField(blank=True, max_length=300)),
                ("confirmed_at", models.DateTimeField(null=True)),
                (
                    "organization",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="accounts.organization"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["organization", "-started_at", "-id"], name="runs_newest")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["running", "asks"])),
                        fields=("organization",),
                        name="one_unfinished_run",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at", None), ("state__in", ["running", "asks"])),
                            models.Q(
                                models.Q(("state__in", ["running", "asks"]), _negated=True),
                                ("finished_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="runs_that_ended_say_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "asks"), _negated=True), ("candidates__isnull", False), _connector="OR"
                        ),
                        name="runs_that_ask_say_how_many",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Announcement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("lease_token", models.UUIDField(editable=False, null=True)),
                ("lease_until", models.DateTimeField(editable=False, null=True)),
                ("attempts", models.PositiveIntegerField(default=0, editable=False)),
                ("next_try_at", models.DateTimeField(editable=False, null=True)),
                ("handled_at", models.DateTimeField(null=True)),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.member"
                    ),
                ),
                (
                    "policy",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="retention.policy"
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="retention.run"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("handled_at", None)), fields=["id"], name="announcements_waiting")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("policy", "member"), name="one_announcement_a_policy"),
                    models.UniqueConstraint(fields=("run", "member"), name="one_announcement_a_run"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("policy__isnull", True), ("run__isnull", False)),
                            models.Q(("policy__isnull", False), ("run__isnull", True)),
                            _connector="OR",
                        ),
                        name="announcements_tell_of_one_thing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("matter", models.CharField(max_length=200)),
                ("reason", models.CharField(max_length=1000)),
                ("root", models.UUIDField(help_text="The record id of the first record of the family.", null=True)),
                (
                    "filter",
                    models.JSONField(
                        help_text="What a decision of a family must match: as lists are filtered.", null=True
                    ),
                ),
                ("placed_by", models.CharField(max_length=300)),
                ("placed_at", models.DateTimeField()),
                ("lifted_by", models.CharField(blank=True, max_length=300)),
                ("lifted_at", models.DateTimeField(null=True)),
                ("lifted_because", models.CharField(blank=True, max_length=1000)),
                (
                    "organization",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="accounts.organization",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("lifted_at", None)), fields=["organization", "root"], name="holds_in_force"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "number"), name="holds_are_numbered"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("filter__isnull", False), ("root__isnull", True)),
                            models.Q(("filter__isnull", True), ("root__isnull", False)),
                            _connector="OR",
                        ),
                        name="holds_cover_a_family_or_a_filter",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lifted_at", None), ("lifted_because", ""), ("lifted_by", "")),
                            models.Q(("lifted_at__isnull", False), models.Q(("lifted_by", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="lifted_holds_say_by_whom",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lifted_at__isnull", False),
                            models.Q(models.Q(("matter", ""), _negated=True), models.Q(("reason", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="holds_say_why",
                    ),
                ],
            },
        ),
    ]
