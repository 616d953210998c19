"""Personal data in custody: sealed, or none."""

from config.personal_data import declare, deleted, retained
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
        wrapped=retained("a secret, encrypted", _RANDOM),
        wrapped_by=retained("the id of the key that it is encrypted under", _RANDOM),
        purpose=retained("what the key is for", _OURS),
        key_id=retained("its id", _RANDOM),
        algorithm=retained("of which kind it is", _OURS),
        public_pem=retained("its public half", _RANDOM),
        provider=retained("who holds it", _OURS),
        configuration=retained("how it is reached", _OPERATORS),
    )
    declare(KeyOutage, reason=retained("why a key cannot be used", _OPERATORS))
    declare(KeyAlert)
    declare(
        StorageTarget,
        id=retained("the id of a place", _RANDOM),
        provider=retained("of which kind it is", _OURS),
        configuration=retained("where it is", _OPERATORS),
    )
    declare(StorageOutage, reason=retained("why a place does not answer", _OPERATORS))
    declare(StorageAlert)
    declare(
        Entry,
        kind=retained("decision, reconsideration or notice", _OURS),
        state=retained("where the record is", _OURS),
        statement=retained("the signed statement about the record", _SIGNED),
        signature=retained("its signature", _SIGNED),
        key_id=retained("the key that signed it", _RANDOM),
    )
    declare(WaitingObject, body=deleted("the record, encrypted, with its data key, also encrypted"))
    declare(
        Disposal,
        statement=retained(
            "the signed statement of the disposal", "It names the record by its id, and holds none of it."
        ),
        signature=retained("its signature", _SIGNED),
        key_id=retained("the key that signed it", _RANDOM),
        problem=retained("why it is not finished", _OPERATORS),
    )
    declare(
        Inspection,
        runner=retained("what checks", _OURS),
        stage=retained("how far a check has come", _OURS),
        after=retained("the id of the last item checked", _RANDOM),
        counts=retained("how many items passed", _OPERATORS),
    )
    declare(
        Damage,
        kind=retained("what is damaged", _OURS),
        name=retained("its id", _RANDOM),
        reason=retained("which check failed", "It names checks and columns, and no value of a record."),
    )
    declare(DamageAlert)
    declare(JournalFile, key=retained("the name of a file of the journal", _RANDOM))
    declare(
        SealedObject,
        key=deleted("the ids of organization and record"),
        body=deleted(
            "the record, encrypted, with its data key, also encrypted",
            "In other storage the data key is destroyed, and the object is removed where that storage allows.",
        ),
    )
