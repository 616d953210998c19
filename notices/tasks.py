from config.celery import wake
from config.periodic import periodic
from notices import services


@periodic(60, queue="storage")
def seal_approved() -> None:
    """Seal notices that a crash left between approval and custody."""
    services.seal_approved()


@periodic(30, queue="letters")
def deliver_letters() -> None:
    """Mail waiting letters and acknowledgements. Requests that add one wake this task, and it runs by schedule.

    It works for a slice and then wakes itself, so that other tasks of the worker come between two slices.
    """
    if services.deliver_letters() + services.acknowledge_requests():
        wake("notices.tasks.deliver_letters")


@periodic(600, queue="mail")
def remind() -> None:
    """Remind each member once a day of late and at-risk notices."""
    services.remind()
    services.send_reminders()
