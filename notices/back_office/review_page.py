"""The review page of a notice: every sentence beside its record field, and the possible actions."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from operator import attrgetter
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.back_office import caller, may, refusal
from accounts.roles import Permission
from config.errors import DomainError
from notices import follow_up, selectors, services
from notices.back_office import history
from notices.back_office.actions import offers
from notices.back_office.formatting import has_words, source_in_words, time_left
from notices.checklist import CHECK, MISSING, NOT_APPLICABLE, PRESENT, Citation, ElementResult
from notices.forms import ActionForm, ReasonForm, RecipientForm
from notices.localization import MAX_TEXT
from notices.models import Delivery, Notice, NoticeRevision, ReviewRequest
from notices.readability import Readabilities, Readability, readability_of
from notices.record_paths import Scalar
from notices.services import stored_checks

SECTIONS = {
    "decision_summary": _("What was decided"),
    "role_of_automated_system": _("Role of the automated system"),
    "main_factors": _("Why"),
    "inputs_used": _("Information used"),
}
TEXTS = {
    "how_to_request_inputs": _("How to ask for the information"),
    "rights": _("Rights"),
    "how_to_request_review": _("How to ask for a review"),
    "deadline_note": _("Deadlines"),
}
STATEMENT = re.compile(rf"\bstatement ([0-9]+) of ({'|'.join(SECTIONS)})\b")
_RESULTS = {CHECK: _("still open"), PRESENT: _("present"), NOT_APPLICABLE: _("does not apply")}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement with the value at its source.

    Attributes:
        label: the source in words.
        mark: found, missing, changed, or unread if the record cannot be read now.
        before: the old value of a changed one.
    """

    number: int
    statement: str
    source: str
    value: str
    mark: str
    before: str = ""

    @property
    def label(self) -> str:
        return source_in_words(self.source)

    @property
    def is_quoted(self) -> bool:
        """Whether the statement says the value itself, so that the page need not repeat it."""
        return has_words(self.statement, self.value)


def page(request: HttpRequest, notice: Notice, entered: Mapping[str, ActionForm]) -> dict[str, Any]:
    """Return the context of the review page for a notice of `selectors.notice`.

    Args:
        entered: by action, the form of a refused action.
    """
    revision = selectors.current_revision(notice)
    pack = selectors.pack_of(notice)
    was_approved = notice.state not in Notice.EDITABLE  # only then it has deliveries, requests and newer versions
    if was_approved:
        prefetch_related_objects([notice], "deliveries")
    deliveries = sorted(notice.deliveries.all(), key=attrgetter("pk")) if was_approved else []
    answers = follow_up.requests_told_by(notice)
    try:
        against_record = _against_the_record(request, notice, revision, answers)
    except DomainError as error:
        sections = _sections(revision, {})
        measured = readability_of(revision.content, pack, notice.language)
        against_record = {"fault": error.sentence, "against": error.sentence, "warnings": [], "sections": sections}
        against_record["readabilities"] = _readabilities(measured)
    listed, against = against_record.pop("warnings"), against_record["against"]
    listed = [replace(warning, sentence=with_number(warning.sentence, revision.content)) for warning in listed]
    to_tick = listed if against_record.get("asks_to_acknowledge") else []
    offered = offers(request, notice, revision.number, against, to_tick, entered)
    return {
        "notice": notice,
        "revision": revision,
        "recipient": RecipientForm.lines(notice.recipient),
        "framework": pack.text(notice.language).framework,
        "texts": [(name, label, revision.content.get(name)) for name, label in TEXTS.items()],
        "review_offered": revision.content.get("human_review_available"),
        "history": history.page(notice, deliveries, before=request.GET.get("before", "")),
        "deliveries": [(row, _return_form(row)) for row in deliveries],
        "reason_against_return": refusal(request, Permission.DRAFT_NOTICES),
        "requests": notice.review_requests.with_answer() if was_approved else [],
        "answers": answers,
        "successor": notice.successors.exclude(state=Notice.State.WITHDRAWN).first() if was_approved else None,
        "delivered": next((row for row in deliveries if row.delivered_at and not row.returned_at), None),
        **_due(notice),
        "reason_against_editing": reason_against_editing(request, notice),
        "offers": offered,
        **_at_approval(notice, revision.content),
        "unticked_warnings": [] if to_tick and offered.include("approve") else listed,
        **against_record,
    }


def _readabilities(measured: Readabilities) -> list[tuple[str, Readability]]:
    texts = {gettext("The whole letter"): measured.whole}
    return list((texts | {gettext("Without the texts that are prescribed"): measured.without_prescribed}).items())


def _at_approval(notice: Notice, content: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the warnings that were acknowledged or left open with the approval, if the notice was approved."""
    is_approved = notice.state not in Notice.EDITABLE and hasattr(notice, "approval")
    kinds = {name: getattr(notice.approval, name) or [] for name in ("acknowledged", "open_warnings") if is_approved}
    return {name: [with_number(row["sentence"], content) for row in rows] for name, rows in kinds.items()}


def with_number(sentence: str, content: Mapping[str, Any]) -> str:
    """Return a warning's sentence with the page's number of its statement."""

    def number(match: re.Match[str]) -> str:
        position, section = match.groups()
        before = takewhile(lambda name: name != section, SECTIONS)
        count = sum(len(content.get(name, [])) for name in before) + int(position)
        return gettext("sentence %(number)s") % {"number": count}

    return STATEMENT.sub(number, sentence, count=1)


def reason_against_editing(request: HttpRequest, notice: Notice) -> str:
    """Return why the operator cannot edit this notice now, or ""."""
    reason = refusal(request, Permission.DRAFT_NOTICES)
    if reason or notice.state in Notice.EDITABLE:
        return reason
    return notice.standing


def spelled(value: Scalar) -> str:
    """Return a value as the record spells it, shortened because many sentences may cite a long one."""
    text = json.dumps(value) if value is None or isinstance(value, bool) else str(value)
    return (text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…").replace("\x00", "")


def _due(notice: Notice) -> dict[str, Any]:
    """Return the deadline of an unsent letter; nothing once it is delivered."""
    if notice.due_at is None or notice.state not in Notice.UNSENT:
        return {}
    return {"due_at": notice.due_at, "late": notice.due_at < timezone.now(), "time_left": time_left(notice.due_at)}


def _against_the_record(
    request: HttpRequest, notice: Notice, revision: NoticeRevision, answers: Sequence[ReviewRequest]
) -> dict[str, Any]:
    """Return the parts of the page that need the record. Raises Fault if it cannot be read."""
    result, pack = stored_checks.check(notice, revision), selectors.pack_of(notice)
    own = selectors.settings_for(notice)
    problems = result.problems if notice.state in Notice.EDITABLE else []
    return {
        "sections": _sections(revision, {citation.source: citation for citation in result.citations}),
        "elements": _elements(result.elements),
        "problems": problems,
        "warnings": result.warnings,
        "asks_to_acknowledge": own.asks_to_acknowledge(pack),
        "advisory": pack.advisory,
        "untold": result.untold,
        "deadlines": follow_up.deadlines_of(notice, result.deadlines, answers),
        "readabilities": _readabilities(result.readability),
        "against": _against_approval(request, notice, problems),
    }


def _against_approval(request: HttpRequest, notice: Notice, problems: list[str]) -> str:
    """Return why the operator cannot approve, or "". A lack of the role's permission is shown elsewhere."""
    if not may(request, Permission.APPROVE_NOTICES):
        return ""
    if problems:
        return gettext("Fix the blocking problem first.")
    approver = caller(request, Permission.APPROVE_NOTICES)
    return services.reason_against_approval(caller=approver, notice=notice)


def _sections(revision: NoticeRevision, citations: Mapping[str, Citation]) -> list[tuple[str, list[Sentence]]]:
    """Return the label and sentences of each section, numbered across sections."""
    sections, above = [], 0
    for name, label in SECTIONS.items():
        items = revision.content.get(name, [])
        sentences = [_sentence(above + n, item, citations, revision.cited) for n, item in enumerate(items, start=1)]
        sections.append((str(label), sentences))
        above += len(items)
    return sections


def _sentence(
    number: int, item: Mapping[str, str], citations: Mapping[str, Citation], before: Mapping[str, str]
) -> Sentence:
    beginning, citation = (number, item["statement"], item["source"]), citations.get(item["source"])
    if citation is None:
        return Sentence(*beginning, "", "unread")
    if not citation.resolves:
        return Sentence(*beginning, "", "missing")
    value = spelled(citation.value)
    if citation.decode:
        value = f"{value} ({citation.decode})"
    if citation.changed:
        return Sentence(*beginning, value, "changed", spelled(before[citation.source]))
    return Sentence(*beginning, value, "found")


def _elements(items: list[ElementResult]) -> list[tuple[str, list[tuple[ElementResult, str]]]]:
    """Return the checklist with results in words: the open elements, and by their result those that are folded."""
    order = (MISSING, CHECK, PRESENT, NOT_APPLICABLE)
    sorted_items = sorted(items, key=lambda item: (order.index(item.result), not item.blocks))
    missing = {True: gettext("missing"), False: gettext("missing, advice only")}
    folds: dict[str, list[tuple[ElementResult, str]]] = {"": [], PRESENT: [], NOT_APPLICABLE: []}
    for item in sorted_items:
        folds[_fold(item)].append((item, str(_RESULTS.get(item.result) or missing[item.blocks])))
    return [(fold, rows) for fold, rows in folds.items() if rows]


def _fold(item: ElementResult) -> str:
    """Return the result under which an element is folded, or "". The approver judges exemptions with a reason."""
    is_judged = item.result == NOT_APPLICABLE and item.reason
    return item.result if item.result in (PRESENT, NOT_APPLICABLE) and not is_judged else ""


def _return_form(delivery: Delivery) -> ReasonForm | None:
    """Return a form for the reason why a letter came back; None if it is not out, or is back already."""
    if delivery.returned_at or not delivery.delivered_at:
        return None
    form = ReasonForm(auto_id=f"return-{delivery.pk}-%s")
    form.fields["reason"].label = gettext("Why it came back")
    return form
