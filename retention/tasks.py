import time

from config.periodic import periodic
from retention import services

_SECONDS = 200
"""Well within the time limit of tasks. The clock runs the task again."""


@periodic(300, queue="storage")
def run_daily() -> None:
    """Dispose of due families, once a day for each organization. Resumes interrupted runs."""
    ends = time.monotonic() + _SECONDS
    for organization_id in services.organizations_with_a_policy():
        if time.monotonic() < ends:
            services.run_daily(organization_id, seconds=ends - time.monotonic())


@periodic(60, queue="mail")
def send_announcements() -> None:
    """Mail owners about shorter policies and waiting runs. A new policy wakes this task, and so does the clock."""
    services.send_announcements()
