"""What retention keeps about persons: who decided, and why."""

from config.personal_data import ages, declare, kept
from retention.models import Hold, Policy, Run

_STAFF = "It names a member of the organization, and nobody about whom a record is."
_OURS = "One of a few words of this service."
_AGED = "It proves why records were held. It is emptied when the hold was lifted as long ago as the policy's days."


def declare_all() -> None:
    declare(
        Policy,
        note=kept("why the policy is as it is", "It is a setting, and the same for every record."),
        created_by=kept("who set it", _STAFF),
    )
    declare(
        Hold,
        matter=ages("the matter for which records are held", _AGED),
        reason=ages("why they are held", _AGED),
        filter=ages("which records are held, by a subject's reference perhaps", _AGED),
        placed_by=kept("who placed the hold", _STAFF),
        lifted_by=kept("who lifted it", _STAFF),
        lifted_because=ages("why", _AGED),
    )
    declare(
        Run,
        kind=kept("by the clock or by a command", _OURS),
        state=kept("how far it has come", _OURS),
        confirmed_by=kept("who let it go on", _STAFF),
    )
