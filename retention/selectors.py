"""Queries about policies, holds and disposals."""

import uuid
from collections.abc import Collection

from django.db.models import Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.back_office.lists import MAX_ROWS
from config import db
from config.errors import Fault
from custody.disposal import journal
from custody.models import Disposal, Entry
from custody.record_types import Families
from decisions.models import Decision
from decisions.selectors import DecisionNotFound
from retention import rules
from retention.errors import NoHold
from retention.models import MAX_DAYS, Hold, Policy, Run
from retention.rules import Verdict

_MAX_VERSIONS = 200
_PARTS = {
    "action": _("action %(value)s"),
    "system": _("system %(value)s"),
    "source": _("source %(value)s"),
    "subject_reference": _("reference of the subject %(value)s"),
    "decided_from": _("decided from %(value)s"),
    "decided_to": _("decided before %(value)s"),
    "received_from": _("received from %(value)s"),
    "received_to": _("received before %(value)s"),
}
"""The value of a filter in words."""


def history(organization_id: uuid.UUID) -> list[Policy]:
    """Return the newest versions of the policy, newest first."""
    return list(Policy.objects.for_organization(organization_id).order_by("-number")[:_MAX_VERSIONS])


def unannounced_policies(organization_id: uuid.UUID) -> QuerySet[Policy]:
    """Return the current policy if it shortens retention and the mail to owners has yet to go out."""
    rows = Policy.objects.for_organization(organization_id)
    newest = rows.order_by("-number").values("pk")[:1]
    return rows.filter(pk=Subquery(newest), shortens=True, announced_at=None)


def hold(organization_id: uuid.UUID, number: int) -> Hold:
    """Return the hold of a number. Raises NoHold."""
    row = db.only(Hold.objects.for_organization(organization_id).filter(number=number))
    if row is None:
        raise NoHold
    return row


def count_held(organization_id: uuid.UUID) -> int:
    """Return the number of held families. MAX_ROWS + 1 means "more than MAX_ROWS"."""
    rows, roots = Decision.objects.for_organization(organization_id), set[uuid.UUID]()
    for batch in rules.hold_batches(rules.holds_in_force(organization_id)):
        roots.update(rules.roots_of(rows.filter(rules.covered_by(batch)))[: MAX_ROWS + 1])
        if len(roots) > MAX_ROWS:
            break
    return min(len(roots), MAX_ROWS + 1)


def count_families(organization_id: uuid.UUID, wanted: Q) -> int:
    """Return the number of families with a matching decision. MAX_ROWS + 1 means "more than MAX_ROWS"."""
    rows = Decision.objects.for_organization(organization_id).filter(wanted)
    return rules.roots_of(rows)[: MAX_ROWS + 1].count()


def count_covered(hold: Hold) -> int:
    """Return the number of families a hold in force covers. See `count_families`."""
    return count_families(hold.organization_id, rules.covered_by([hold]))


def description(hold: Hold) -> str:
    """Describe the decisions a hold covers, in words."""
    if hold.root:
        return gettext("one decision")
    named = (str(_PARTS[name] % {"value": value}) for name, value in (hold.filter or {}).items())
    return ", ".join(named) or gettext("decisions that are no longer stored")


def holds_numbered(organization_id: uuid.UUID, numbers: Collection[int]) -> list[Hold]:
    rows = Hold.objects.for_organization(organization_id)
    return list(rows.filter(number__in=numbers).order_by("number")) if numbers else []


def policy_and_verdict(decision: Decision, *, obstacles_of_all: bool = True) -> tuple[Policy | None, Verdict]:
    """Return the current policy, and the verdict on a decision's family. Without a policy, MAX_DAYS apply.

    Args:
        obstacles_of_all: as for `rules.evaluate`.

    Raises:
        DecisionNotFound: it was disposed of just now.
    """
    policy, root = rules.newest(decision.organization_id), decision.first_id or decision.pk
    asked = Families(decision.organization_id, [root])
    applied, now = policy or Policy(days=MAX_DAYS), timezone.now()
    verdict = rules.evaluate(asked, applied, now, obstacles_of_all=obstacles_of_all).get(root)
    if verdict is None:
        raise DecisionNotFound
    return policy, verdict


def journal_is_kept(organization_id: uuid.UUID) -> bool:
    """Whether a journal of disposals exists, so that a restore brings nothing back.

    An unreachable journal counts as existing: no disposal is reported as done before it is in the journal.
    """
    try:
        return journal.is_kept(organization_id)
    except Fault:
        return True


def disposals(organization_id: uuid.UUID) -> QuerySet[Disposal]:
    return of_disposed(Disposal.objects.for_organization(organization_id))


def of_disposed(disposals: QuerySet[Disposal]) -> QuerySet[Disposal]:
    """Filter to disposed entries, which all are: databases then begin at the index of those."""
    return disposals.filter(record__state=Entry.State.DISPOSED)


def failing(disposals: QuerySet[Disposal]) -> QuerySet[Disposal]:
    """Filter to disposals that failed at the last try."""
    return disposals.filter(finished_at=None, problem__gt="")


def failing_disposals(organization_id: uuid.UUID) -> QuerySet[Disposal]:
    """Return an organization's disposals that failed at the last try, for a count.

    Coalesce keeps databases from beginning at all entries of the organization instead of the index of failures.
    """
    owner = Coalesce("record__organization", "record__organization")
    rows = Disposal.objects.unscoped("the owner is filtered here").annotate(owner=owner)
    return failing(rows.filter(owner=organization_id))


def runs(organization_id: uuid.UUID) -> QuerySet[Run]:
    """Return the organization's runs, newest first."""
    return Run.objects.for_organization(organization_id).order_by("-started_at", "-pk")
