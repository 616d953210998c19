"""Reading policies, holds and disposals."""

import uuid
from collections.abc import Collection

from django.db.models import Q, QuerySet
from django.utils import timezone

from accounts.back_office.lists import MAX_ROWS
from config import db
from config.errors import Fault
from custody import journal
from custody.models import Disposal
from custody.record_types import Families
from decisions.models import Decision
from decisions.selectors import DecisionNotFound
from retention import rules
from retention.errors import NoHold
from retention.models import LONGEST, Hold, Policy, Run
from retention.rules import Verdict

_VERSIONS = 200
_WORDS = {
    "subject_reference": "reference of the subject",
    "decided_from": "decided from",
    "decided_to": "decided before",
    "received_from": "received from",
    "received_to": "received before",
}
"""What the form calls values of a filter, where that is not their name."""


def history(organization_id: uuid.UUID) -> list[Policy]:
    """The versions of the policy, newest first; no more of them than anybody would read."""
    return list(Policy.objects.for_organization(organization_id).order_by("-number")[:_VERSIONS])


def hold(organization_id: uuid.UUID, number: int) -> Hold:
    """Raises NoHold."""
    found = db.only(Hold.objects.for_organization(organization_id).filter(number=number))
    if found is None:
        raise NoHold
    return found


def count_held(organization_id: uuid.UUID) -> int:
    """How many families are held, counted no further than lists are."""
    rows, found = Decision.objects.for_organization(organization_id), set[uuid.UUID]()
    for some in rules.together(rules.holds_in_force(organization_id)):
        found.update(rules.roots_of(rows.filter(rules.covered_by(some)))[: MAX_ROWS + 1])
        if len(found) > MAX_ROWS:
            break
    return min(len(found), MAX_ROWS + 1)


def count_families(organization_id: uuid.UUID, wanted: Q) -> int:
    """Return how many families have a matching decision. MAX_ROWS + 1 means "more than MAX_ROWS"."""
    rows = Decision.objects.for_organization(organization_id).filter(wanted)
    return rules.roots_of(rows)[: MAX_ROWS + 1].count()


def count_covered(hold: Hold) -> int:
    """How many families a hold in force covers; counted as `count_families` does."""
    return count_families(hold.organization_id, rules.covered_by([hold]))


def description(hold: Hold) -> str:
    """What it covers, in words."""
    if hold.root:
        return "one decision"
    named = (f"{_WORDS.get(name, name)} {value}" for name, value in (hold.filter or {}).items())
    return ", ".join(named) or "what is no longer kept"


def holds_numbered(organization_id: uuid.UUID, numbers: Collection[int]) -> list[Hold]:
    rows = Hold.objects.for_organization(organization_id)
    return list(rows.filter(number__in=numbers).order_by("number")) if numbers else []


def standing(decision: Decision) -> tuple[Policy | None, Verdict]:
    """The current policy, and what is to become of the family of a decision; by the longest if there is none.

    Raises:
        DecisionNotFound: it was disposed of just now.
    """
    policy, root = rules.newest(decision.organization_id), decision.first_id or decision.pk
    asked = Families(decision.organization_id, [root])
    found = rules.evaluate(asked, policy or Policy(days=LONGEST), timezone.now()).get(root)
    if found is None:
        raise DecisionNotFound
    return policy, found


def journal_is_kept(organization_id: uuid.UUID) -> bool:
    """Whether a restore brings nothing back. A journal that is out of reach is kept: nothing is told as done before it
    has been written."""
    try:
        return journal.is_kept(organization_id)
    except Fault:
        return True


def disposals(organization_id: uuid.UUID) -> QuerySet[Disposal]:
    return Disposal.objects.for_organization(organization_id)


def failing(disposals: QuerySet[Disposal]) -> QuerySet[Disposal]:
    """Those that could not be finished when it was last tried."""
    return disposals.filter(finished_at=None).exclude(problem="")


def failing_disposals(organization_id: uuid.UUID) -> QuerySet[Disposal]:
    return failing(disposals(organization_id))


def runs(organization_id: uuid.UUID) -> QuerySet[Run]:
    """Newest first."""
    return Run.objects.for_organization(organization_id).order_by("-started_at", "-pk")
