from config.periodic import periodic
from retention import services


@periodic(60, queue="mail")
def send_announcements() -> None:
    """Mail owners what they have to know of retention. Woken by what happened, and by the clock."""
    services.send_announcements()
