"""What retention keeps about persons: who decided, and why."""

from config.personal_data import ages, declare, kept
from retention.models import Hold, Policy, Run

_STAFF = "It names a member of the organization, and nobody about whom a record is."
_LIFTED = "It is emptied when the hold has been lifted for as many days as the policy has."
_OURS = "One of a few words of this service."


def declare_all() -> None:
    declare(
        Policy,
        note=kept("why the policy is as it is", "It is a setting, and the same for every record."),
        created_by=kept("who set it", _STAFF),
    )
    declare(
        Hold,
        matter=ages("the matter for which records are held", _LIFTED),
        reason=ages("why they are held", _LIFTED),
        filter=ages("which records are held, such as a subject's reference", _LIFTED),
        placed_by=kept("who placed the hold", _STAFF),
        lifted_by=kept("who lifted it", _STAFF),
        lifted_because=ages("why it was lifted", _LIFTED),
    )
    declare(
        Run,
        kind=kept("by the clock or by a command", _OURS),
        state=kept("how far it has come", _OURS),
        confirmed_by=kept("who let it go on", _STAFF),
    )
