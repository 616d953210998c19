import time

from config.periodic import periodic
from retention import services

_SECONDS = 200
"""Well within the time limit of tasks; the clock asks again."""


@periodic(300, queue="custody")
def run_daily() -> None:
    """Dispose of what is due, once a day for each organization; what was interrupted goes on."""
    ends = time.monotonic() + _SECONDS
    for organization_id in services.organizations_with_a_policy():
        if time.monotonic() < ends:
            services.run_daily(organization_id, seconds=ends - time.monotonic())


@periodic(60, queue="mail")
def send_announcements() -> None:
    """Mail owners what they have to know of retention. Woken by what happened, and by the clock."""
    services.send_announcements()
