from config.periodic import periodic
from custody import services


@periodic(30, queue="custody")
def reconcile() -> None:
    """Finish reserved records."""
    services.reconcile()
