from celery import shared_task

from notices import services


@shared_task(name="notices.tasks.seal_approved")
def seal_approved() -> None:
    """Seal what a crash between approval and custody left out, as beat asks every minute."""
    services.seal_approved()


@shared_task(name="notices.tasks.deliver_letters")
def deliver_letters() -> None:
    """Mail letters and acknowledgements. Woken by the request that made them wait, and by beat."""
    services.deliver_letters()
    services.acknowledge_requests()


@shared_task(name="notices.tasks.remind")
def remind() -> None:
    """Remind members of what is late or at risk, once a day each, as beat asks every ten minutes."""
    services.remind()
    services.send_reminders()
