"""Services of retention: policies, legal holds, and runs that dispose of families."""

from retention.services.announcements import send_announcements
from retention.services.confirmations import confirm_run
from retention.services.holds import lift_hold, place_hold
from retention.services.policies import set_policy
from retention.services.runs import (
    NoPolicy,
    PolicyChanged,
    RunGoing,
    dispose_of_due,
    organizations_with_a_policy,
    run_daily,
)
from retention.services.subject_export import export_subject

__all__ = [
    "NoPolicy",
    "PolicyChanged",
    "RunGoing",
    "confirm_run",
    "dispose_of_due",
    "export_subject",
    "lift_hold",
    "organizations_with_a_policy",
    "place_hold",
    "run_daily",
    "send_announcements",
    "set_policy",
]
