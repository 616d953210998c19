"""What the index of decisions keeps about persons."""

from config.personal_data import declare, emptied, kept, rare
from decisions.models import Decision, Reconsideration

_COUNTED = "Reports count it."


def declare_all() -> None:
    columns = {
        "decision_id": emptied("the id that the customer gave, which may be a file number or a name"),
        "subject_reference": emptied("what the organization calls the person by"),
        "system_version": emptied("the version of the system that decided"),
        "reviewer": emptied("who looked at the decision again"),
        "action": rare("what was decided", _COUNTED),
        "system_name": rare("which system decided", _COUNTED),
        "review_outcome": rare("what came of a review", _COUNTED),
        "reviewer_authority": rare("by which authority it was reviewed", _COUNTED),
        "kind": kept("decision or reconsideration", "One of a few words of this service."),
        "source": kept("by which door it came in", "One of a few words of this service, or the id of a connector."),
    }
    declare(Decision, **columns)
    declare(Reconsideration, **columns)
