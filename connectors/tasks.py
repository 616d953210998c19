from celery import shared_task

from config.celery import wake
from config.periodic import periodic
from connectors import services

_MAX_WAKE_UPS = 16  # at once; a woken worker polls until nothing is due


@periodic(5, queue="dispatch")
def dispatch() -> None:
    """Wake workers for the due connectors. A wake-up claims nothing, so a lost or doubled wake-up is harmless."""
    for _ in range(services.due_count(_MAX_WAKE_UPS)):
        wake("connectors.tasks.poll")


@shared_task(queue="poll")
def poll() -> None:
    """Poll due connectors until none is left or the time is over."""
    services.poll_due()


@periodic(60, queue="dispatch")
def repair_times() -> None:
    """Repair times that a fast clock set too far in the future."""
    services.repair_times()


@periodic(600)
def note_silence() -> None:
    """Send alerts for connectors that have stopped bringing records."""
    services.note_silence()


@periodic(60, queue="mail")
def send_alerts() -> None:
    """Mail the waiting alerts. New alerts wake this task, too."""
    services.send_alerts()
