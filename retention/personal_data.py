"""Declarations of personal data in retention: the people who decided, and their reasons."""

from config.personal_data import ages, declare, retained
from retention.models import Hold, Policy, Run

_STAFF = "It names a member of the organization, not a person about whom a record is."
_LIFTED = "It is emptied when the hold has been lifted for as many days as the policy has."
_OURS = "One of a few words of this service."


def declare_all() -> None:
    declare(
        Policy,
        note=retained("the reason for the policy", "It is a setting, and the same for every record."),
        created_by=retained("who set it", _STAFF),
    )
    declare(
        Hold,
        matter=ages("the matter for which records are held", _LIFTED),
        reason=ages("why they are held", _LIFTED),
        filter=ages("which records are held, such as a subject's reference", _LIFTED),
        placed_by=retained("who placed the hold", _STAFF),
        lifted_by=retained("who lifted it", _STAFF),
        lifted_because=ages("why it was lifted", _LIFTED),
    )
    declare(
        Run,
        kind=retained("whether the clock or a command started it", _OURS),
        state=retained("whether it goes on, asks or has ended", _OURS),
        confirmed_by=retained("who confirmed it", _STAFF),
    )
