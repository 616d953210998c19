"""Declarations of the personal data in the index of decisions."""

from config.personal_data import declare, emptied, rare, retained
from decisions.models import Decision, Reconsideration

_COUNTED = "Reports count it."


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
