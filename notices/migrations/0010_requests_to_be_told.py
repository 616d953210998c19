from datetime import timedelta

from django.db import migrations, models
from django.utils import timezone

BATCH = 1000
RECENT = timedelta(days=90)
BECAUSE = (
    "It was answered by a reconsideration before the service kept track of whether the person was told, and its time "
    "was over. Whether they were told is not known here."
)


def settle(apps, schema_editor):
    """What became of requests that a reconsideration had answered, which nobody kept track of.

    A letter about the outcome that was delivered told the person. Otherwise the request is to be told where that can
    still be done in time, or, without a deadline, if it is recent. The others are closed with a reason that says what
    is not known: nobody wakes up to hundreds of requests that were late for years.
    """
    requests = apps.get_model("notices", "ReviewRequest").objects.order_by("pk")
    decisions = apps.get_model("decisions", "Decision").objects
    now = timezone.now()
    rows = requests.filter(closed_at=None).select_related("notice__decision")
    for request in rows.iterator(BATCH):
        chain = request.notice.decision.first_id or request.notice.decision_id
        answers = decisions.filter(first=chain, received_at__gte=request.received_at)
        if not answers.exists():
            continue
        told = delivered(apps, answers)
        if told:
            request.told_at, request.told_by_id = told.delivered_at, told.notice_id
        elif request.due_at < now if request.due_at else request.received_at < now - RECENT:
            request.closed_at, request.closed_by, request.closed_because = now, "system upgrade", BECAUSE
        request.save(update_fields=["told_at", "told_by", "closed_at", "closed_by", "closed_because"])


def delivered(apps, answers):
    """The first delivery of a letter about one of these reconsiderations that stands; None if there is none."""
    rows = apps.get_model("notices", "Delivery").objects.filter(
        notice__decision__in=answers.values("pk"),
        notice__state="delivered",
        delivered_at__isnull=False,
        returned_at=None,
    )
    return rows.order_by("delivered_at", "pk").first()


class Migration(migrations.Migration):
    """A request that a reconsideration answered stays, until the person is told or somebody closes it."""

    dependencies = [
        ("notices", "0009_sensitive_fields"),
        ("decisions", "0006_lists_of_any_size"),
    ]

    operations = [
        migrations.AddField(
            model_name="reviewrequest",
            name="told_at",
            field=models.DateTimeField(help_text="When a letter about the outcome reached the person.", null=True),
        ),
        migrations.AddField(
            model_name="reviewrequest",
            name="told_by",
            field=models.ForeignKey(
                help_text="That letter.",
                null=True,
                on_delete=models.deletion.PROTECT,
                related_name="told_requests",
                to="notices.notice",
            ),
        ),
        migrations.AddIndex(
            model_name="reviewrequest",
            index=models.Index(
                condition=models.Q(told_at=None, closed_at=None),
                fields=["organization", "due_at"],
                name="reviews_unfinished",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(told_at=None, told_by=None) | models.Q(told_at__isnull=False, told_by__isnull=False),
                name="telling_has_its_letter",
            ),
        ),
        migrations.AddConstraint(
            model_name="reviewrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(told_at=None) | models.Q(closed_at=None), name="told_or_closed"
            ),
        ),
        # Last: PostgreSQL changes no table whose changed rows still wait for their checks.
        migrations.RunPython(settle, migrations.RunPython.noop),
    ]
