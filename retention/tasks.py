import time

from config.celery import wake
from config.periodic import SLICE_SECONDS, periodic
from retention import services


@periodic(300, queue="storage")
def run_daily() -> None:
    """Dispose of due families for a slice, once a day for each organization; then ask for the next slice. Resumes
    interrupted runs."""
    ends = time.monotonic() + SLICE_SECONDS
    for organization_id in services.organizations_with_a_policy():
        services.run_daily(organization_id, seconds=ends - time.monotonic())
        if time.monotonic() >= ends:
            wake(run_daily.name)
            return


@periodic(60, queue="mail")
def send_announcements() -> None:
    """Mail owners about shorter policies and waiting runs. A new policy wakes this task, and so does the clock."""
    services.send_announcements()
