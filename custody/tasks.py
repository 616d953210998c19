from config.periodic import periodic
from custody import services


@periodic(30, queue="custody")
def reconcile() -> None:
    """Finish reserved records."""
    services.reconcile()


@periodic(60, queue="custody")
def watch_targets() -> None:
    """Notice when the storage of an organization fails, and when it answers again."""
    services.watch_targets()


@periodic(60, queue="mail")
def send_outage_alerts() -> None:
    """Mail owners that their storage fails. Woken by what was noticed, and by the clock."""
    services.send_outage_alerts()
