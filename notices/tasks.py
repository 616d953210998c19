from config.celery import wake
from config.periodic import periodic
from notices import services


@periodic(60, queue="storage")
def seal_approved() -> None:
    """Seal notices that a crash left between approval and custody, for a slice; then ask for the next slice."""
    services.seal_approved()
    if services.seals_wait():
        wake(seal_approved.name)


@periodic(30, queue="letters")
def deliver_letters() -> None:
    """Mail waiting letters for a slice; then ask for the next slice. Started by requests that add one, and on
    schedule."""
    services.deliver_letters()
    if services.letters_wait():
        wake(deliver_letters.name)


@periodic(30, queue="mail")
def acknowledge_requests() -> None:
    """Mail waiting acknowledgements. Started by requests for review, and on schedule."""
    services.acknowledge_requests()


@periodic(600, queue="mail")
def remind() -> None:
    """Remind each member once a day of late and at-risk notices."""
    services.remind()
    services.send_reminders()
