from celery import shared_task

from custody import services


@shared_task(name="custody.tasks.reconcile")
def reconcile() -> None:
    """Finish reserved records, as beat asks every half minute."""
    services.reconcile()
