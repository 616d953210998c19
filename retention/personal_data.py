"""What retention keeps about persons: who decided, and why."""

from config.personal_data import declare, kept
from retention.models import Hold, Policy, Run

_STAFF = "It names a member of the organization, and nobody about whom a record is."
_OURS = "One of a few words of this service."


def declare_all() -> None:
    declare(
        Policy,
        note=kept("why the policy is as it is", "It is a setting, and the same for every record."),
        created_by=kept("who set it", _STAFF),
    )
    declare(
        Hold,
        matter=kept("the matter for which records are held", "It proves why they were. Write a file number there."),
        reason=kept("why they are held", "It proves why they were. Write nobody's name there."),
        filter=kept("which records are held", "It proves which were. A subject's reference stays in it."),
        placed_by=kept("who placed the hold", _STAFF),
        lifted_by=kept("who lifted it", _STAFF),
        lifted_because=kept("why", "It proves why it was lifted. Write nobody's name there."),
    )
    declare(
        Run,
        kind=kept("by the clock or by a command", _OURS),
        state=kept("how far it has come", _OURS),
        confirmed_by=kept("who let it go on", _STAFF),
    )
