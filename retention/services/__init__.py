"""Every change of state of retention: its policy, legal holds, and runs that dispose."""

from retention.services.runs import (
    NoPolicy,
    PolicyChanged,
    RunGoing,
    dispose_of_due,
    organizations_with_a_policy,
    run_daily,
    verdicts,
)

__all__ = [
    "NoPolicy",
    "PolicyChanged",
    "RunGoing",
    "dispose_of_due",
    "organizations_with_a_policy",
    "run_daily",
    "verdicts",
]
