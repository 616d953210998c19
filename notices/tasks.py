from celery import shared_task

from notices import services


@shared_task(name="notices.tasks.seal_approved")
def seal_approved() -> None:
    """Seal what a crash between approval and custody left out, as beat asks every minute."""
    services.seal_approved()
