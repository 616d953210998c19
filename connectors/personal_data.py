"""Personal data in connectors: names and places, and no content of items."""

from config.personal_data import ages, declare, retained
from connectors.models import Alert, Connector, Dismissed, LedgerRow, PollRun, Quarantined

_SETTING = "It is a setting, which the organization changes or deletes."
_OURS = "One of a few words of this service."
_AGED = "Rows as old as the retention policy's days are deleted."


def declare_all() -> None:
    declare(
        Connector,
        kind=retained("a kind of source", _OURS),
        name=retained("the organization's name for it", _SETTING),
        config=retained("where the source is", _SETTING),
        secret_ref=retained("the name of a secret", _SETTING),
        problems=retained("what is wrong with the settings", "It is made from the settings alone."),
        created_by=retained("the member or key that made it", "It is not a person that a record is about."),
        cursor=ages(
            "where reading continues, such as the name of a file",
            "Each poll replaces it. It is emptied if nothing was polled for the days of the retention policy.",
        ),
        stopped_because=ages(
            "why it stopped, with the name of a file perhaps",
            "It goes with the next poll, or is replaced after the days of the retention policy.",
        ),
    )
    declare(
        PollRun,
        outcome=ages("how a poll ended", _AGED),
        cause=ages("who has to fix it", _AGED),
        detail=ages("what went wrong, with the name of a file perhaps", _AGED),
        fix=ages("how to fix it", _AGED),
    )
    declare(
        Quarantined,
        cause=ages("why it is no record", _AGED),
        position=ages("its position, perhaps with the name of a file", _AGED),
        origin=ages("the name of the file", _AGED),
        reason=ages("what is wrong with it, without its values", _AGED),
        digest=ages("SHA-256 of the item, which can confirm a guess", _AGED),
        cursor=ages("the place from which it is read again", _AGED),
    )
    declare(Dismissed, digest=ages("SHA-256 of the item, which can confirm a guess", _AGED))
    declare(
        LedgerRow,
        name=retained(
            "a digest of a file's name under a key of the organization",
            "No guess can be confirmed without the key. Names that earlier versions kept become digests with the "
            "first run of retention.",
        ),
        version=retained(
            "the version of the file, as its storage counts, or a digest of a page under a key of the organization",
            "It says nothing of what the file holds, and confirms no guess of what the page holds.",
        ),
        note=retained(
            "of a page, its ETag, its date and the place of the next page",
            "The source chose them to be sent back to it. At most 10,000 pages are kept, and none longer than 90 days "
            "after it was last read.",
        ),
    )
    declare(Alert, event=retained("the event that a member was notified of", _OURS))
