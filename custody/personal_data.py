"""Personal data in custody: sealed, or none."""

from config.personal_data import declare, deleted, kept
from custody.models import (
    Damage,
    DamageAlert,
    Disposal,
    Entry,
    Inspection,
    Installation,
    JournalFile,
    Key,
    KeyAlert,
    KeyOutage,
    SealedObject,
    StorageAlert,
    StorageOutage,
    StorageTarget,
    WaitingObject,
)

_OURS = "One of a few words of this service."
_RANDOM = "It is made from random bytes."
_SIGNED = "It holds salted commitments alone, and the salts are destroyed with the record's data key."
_OPERATORS = "It is of keys and storage, and of no record."


def declare_all() -> None:
    declare(Installation)
    declare(
        Key,
        wrapped=kept("a secret, encrypted", _RANDOM),
        wrapped_by=kept("the id of the key that it is encrypted under", _RANDOM),
        purpose=kept("what the key is for", _OURS),
        key_id=kept("its id", _RANDOM),
        algorithm=kept("of which kind it is", _OURS),
        public_pem=kept("its public half", _RANDOM),
        provider=kept("who holds it", _OURS),
        configuration=kept("how it is reached", _OPERATORS),
    )
    declare(KeyOutage, reason=kept("why a key cannot be used", _OPERATORS))
    declare(KeyAlert)
    declare(
        StorageTarget,
        id=kept("the id of a place", _RANDOM),
        provider=kept("of which kind it is", _OURS),
        configuration=kept("where it is", _OPERATORS),
    )
    declare(StorageOutage, reason=kept("why a place does not answer", _OPERATORS))
    declare(StorageAlert)
    declare(
        Entry,
        kind=kept("decision, reconsideration or notice", _OURS),
        state=kept("where the record is", _OURS),
        statement=kept("the signed statement about the record", _SIGNED),
        signature=kept("its signature", _SIGNED),
        key_id=kept("the key that signed it", _RANDOM),
    )
    declare(WaitingObject, body=deleted("the record, encrypted, with its data key, also encrypted"))
    declare(
        Disposal,
        statement=kept("the signed statement of the disposal", "It names the record by its id, and holds none of it."),
        signature=kept("its signature", _SIGNED),
        key_id=kept("the key that signed it", _RANDOM),
        problem=kept("why it is not finished", _OPERATORS),
    )
    declare(
        Inspection,
        runner=kept("what checks", _OURS),
        stage=kept("how far a check has come", _OURS),
        after=kept("the id of the last item checked", _RANDOM),
        counts=kept("how many items passed", _OPERATORS),
    )
    declare(
        Damage,
        kind=kept("what is damaged", _OURS),
        name=kept("its id", _RANDOM),
        reason=kept("which check failed", "It names checks and columns, and no value of a record."),
    )
    declare(DamageAlert)
    declare(JournalFile, key=kept("the name of a file of the journal", _RANDOM))
    declare(
        SealedObject,
        key=deleted("the ids of organization and record"),
        body=deleted(
            "the record, encrypted, with its data key, also encrypted",
            "In other storage the data key is destroyed, and the object is removed where that storage allows.",
        ),
    )
