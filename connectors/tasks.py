from celery import shared_task

from config.celery import wake
from config.periodic import periodic
from connectors import services

_MAX_WAKE_UPS = 16  # at once; a worker that wakes goes on until nothing is due


@periodic(5, queue="dispatch")
def dispatch() -> None:
    """Wake workers for the connectors that are due. A wake-up claims nothing, so losing or doubling one is harmless."""
    for _ in range(services.due_count(_MAX_WAKE_UPS)):
        wake("connectors.tasks.poll")


@shared_task(queue="poll")
def poll() -> None:
    """Poll what is due, until nothing is or the time is over."""
    services.poll_due()


@periodic(60, queue="dispatch")
def repair_times() -> None:
    """Bring back what a clock that was ahead has put into the future."""
    services.repair_times()


@periodic(600)
def note_silence() -> None:
    """Notice connectors that used to bring records and stopped."""
    services.note_silence()


@periodic(60, queue="mail")
def send_alerts() -> None:
    """Mail what members should know of their connectors. Woken by what happened, and by the clock."""
    services.send_alerts()
