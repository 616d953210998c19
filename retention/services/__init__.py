"""Every change of state of retention: its policy, legal holds, and runs that dispose."""

from retention.services.announcements import send_announcements
from retention.services.confirmations import confirm_run
from retention.services.holds import lift_hold, place_hold
from retention.services.policies import set_policy
from retention.services.subject_export import export_subject

__all__ = ["confirm_run", "export_subject", "lift_hold", "place_hold", "send_announcements", "set_policy"]
