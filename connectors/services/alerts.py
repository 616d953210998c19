"""Mail to members about connectors that need attention."""

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import mail, selectors
from accounts.roles import Permission
from config import leases
from config.celery import wake
from connectors.models import Alert, Connector


def alert(connector: Connector, event: Alert.Event) -> None:
    """Queue a mail to the members who manage connectors, once a day for each event. Call it inside a transaction."""
    members = selectors.members_who_may(connector.organization_id, Permission.MANAGE_CONNECTORS)
    day = timezone.now().date()
    Alert.objects.bulk_create(
        [Alert(connector=connector, member=member, event=event, day=day) for member in members], ignore_conflicts=True
    )
    wake("connectors.tasks.send_alerts")


def note_silence() -> int:
    """Alert members to connectors that have stopped bringing records, once for each silence. Return how many."""
    silent = Connector.objects.unscoped("the clock's sweep serves every organization").silent()
    alerts = Alert.objects.unscoped("of these connectors").filter(
        connector=OuterRef("pk"), event=Alert.Event.SILENT, day__gte=OuterRef("silent_at__date")
    )
    count = 0
    for connector in silent.exclude(Exists(alerts)).iterator():
        with transaction.atomic():
            alert(connector, Alert.Event.SILENT)
        count += 1
    return count


def send_alerts() -> int:
    """Mail the waiting alerts. Return how many were sent."""
    waiting = Alert.objects.unscoped("the clock's sweep serves every organization")
    return mail.deliver(waiting, _send)


def _send(row: Alert) -> mail.Outcome:
    connector = Connector.objects.unscoped("the alert's own").select_related("organization").get(pk=row.connector_id)
    waiting = connector.quarantine.count()
    still_applies = {
        Alert.Event.STOPPED: connector.stopped_at is not None,
        Alert.Event.SILENT: connector.is_silent,
        Alert.Event.QUARANTINE: waiting > 0,
    }
    if not (still_applies[Alert.Event(row.event)] and selectors.may(row.member, Permission.MANAGE_CONNECTORS)):
        return mail.NOT_SENT
    leases.renew(row, lasts=mail.LEASE)
    mail.send(
        "connector",
        to=row.member.user.email,
        subject=_("The connector %(connector)s %(happened)s")
        % {"connector": " ".join(connector.name.split()), "happened": row.get_event_display()},
        context={
            "connector": connector,
            "organization": connector.organization.name,
            "event": row.event,
            "happened": row.get_event_display(),
            "quarantined": waiting,
        },
    )
    return mail.Outcome(sent=True)
