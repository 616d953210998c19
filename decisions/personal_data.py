"""Declarations of the personal data in the index of decisions."""

from config.personal_data import declare, emptied, rare, retained
from decisions.models import Decision, Mapping, MappingProposal, MappingVersion, Reconsideration, UnknownField

_COUNTED = "Reports count it."
_OF_A_SYSTEM = "It describes a system, not a person."
_STAFF = "It names a member of the organization, not the person of a record."


def declare_all() -> None:
    columns = {
        "decision_id": emptied("the id that the customer gave, which may be a file number or a name"),
        "subject_reference": emptied("the organization's reference for the person"),
        "system_version": emptied("the version of the system that decided"),
        "reviewer": emptied("the name of the reviewer"),
        "action": rare("what was decided", _COUNTED),
        "system_name": rare("which system decided", _COUNTED),
        "review_outcome": rare("the outcome of a review", _COUNTED),
        "reviewer_authority": rare("the reviewer's authority", _COUNTED),
        "kind": retained("decision or reconsideration", "One of a few words of this service."),
        "source": retained("how the record came in", "One of a few words of this service, or the id of a connector."),
    }
    declare(Decision, **columns)
    declare(Reconsideration, **columns)
    declare(
        Mapping,
        name=retained("the name of a mapping", _OF_A_SYSTEM),
        system_name=retained("the system whose records it explains", _OF_A_SYSTEM),
        system_versions=retained("the versions of that system", _OF_A_SYSTEM),
        source=retained("how its records come in", _OF_A_SYSTEM),
        field_path=retained("the field that marks its records", _OF_A_SYSTEM),
        field_value=retained("the value of that field", _OF_A_SYSTEM),
    )
    declare(
        UnknownField,
        path=retained("the path of a field that no one has explained", _OF_A_SYSTEM),
        problem=retained("why it is not explained", _OF_A_SYSTEM),
        example=rare("its value with x for each letter and 9 for each digit", "Deleted after 90 days."),
    )
    declare(
        MappingVersion,
        entries=retained("what the fields of a system's records mean", _OF_A_SYSTEM),
        digest=retained("SHA-256 of that", _OF_A_SYSTEM),
        author_kind=retained("whether a member or a key proposed it", _STAFF),
        author_id=retained("who proposed it", _STAFF),
        author_label=retained("who proposed it", _STAFF),
        author_mail=retained("the mail address of the member behind it", _STAFF),
        confirmed_by=retained("who confirmed it", _STAFF),
    )
    declare(
        MappingProposal,
        name=retained("the name of a mapping", _OF_A_SYSTEM),
        system_name=retained("the system whose records it explains", _OF_A_SYSTEM),
        languages=retained("the languages of its words", _OF_A_SYSTEM),
        rows=retained("fields of sample records with masked examples, and up to 50 codes each", _OF_A_SYSTEM),
    )
