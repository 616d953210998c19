from config.periodic import periodic
from notices import services


@periodic(60, queue="custody")
def seal_approved() -> None:
    """Seal what a crash between approval and custody left out."""
    services.seal_approved()


@periodic(30, queue="mail")
def deliver_letters() -> None:
    """Mail letters and acknowledgements. Woken by the request that made them wait, and by the clock."""
    services.deliver_letters()
    services.acknowledge_requests()


@periodic(600, queue="mail")
def remind() -> None:
    """Remind members of what is late or at risk, once a day each."""
    services.remind()
    services.send_reminders()
