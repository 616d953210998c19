"""The review page of a notice: every sentence beside the record field behind it, and what can be done about it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from accounts.back_office import caller, may, refusal
from accounts.roles import Permission
from config.faults import Fault
from notices import checklist, clocks, readability, selectors, services
from notices.back_office.actions import ACTIONS
from notices.facts import Facts, Scalar
from notices.models import Delivery, Notice, NoticeRevision
from notices.services.writing import EDITABLE

SECTIONS = {
    "decision_summary": "What was decided",
    "role_of_automated_system": "The part of the automated system",
    "main_factors": "Why",
    "inputs_used": "Information used",
}
TEXTS = {
    "how_to_request_inputs": "How to ask for the information",
    "rights": "Rights",
    "how_to_request_review": "How to ask for a review",
    "deadline_note": "Deadlines",
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """A statement with what its source leads to. `mark` is resolves, missing or changed."""

    number: int
    statement: str
    source: str
    value: str
    mark: str


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a notice's history."""

    at: datetime
    who: str
    what: str
    why: str = ""


def page(request: HttpRequest, notice: Notice) -> dict[str, Any]:
    """What the review page shows of a notice, as `selectors.notice` gives it."""
    revision = selectors.current_revision(notice)
    pack = selectors.pack_of(notice)
    shown: dict[str, Any] = {
        "notice": notice,
        "revision": revision,
        "pack": pack,
        "framework": pack.text(notice.language).framework,
        "texts": [(label, revision.content.get(name)) for name, label in TEXTS.items()],
        "review_offered": revision.content.get("human_review_available"),
        "readability": readability.measure(revision.content, notice.language),
        "history": sorted(_history(notice), key=lambda event: event.at),
        "deliveries": notice.deliveries.order_by("pk"),
        "channels": Delivery.Channel.choices,
        "requests": notice.review_requests.with_answer(),
        "successor": notice.successors.exclude(state=Notice.State.WITHDRAWN).first(),
        "late": notice.due_at is not None and notice.due_at < timezone.now() and notice.state in selectors.UNSENT,
        "reason_against_editing": reason_against_editing(request, notice),
    }
    try:
        facts = selectors.facts_of(notice.decision)
    except Fault as fault:
        return shown | {"fault": fault.sentence, "reasons": _reasons(request, notice, fault.sentence)}
    against = ""
    if may(request, Permission.APPROVE_NOTICES):
        who = caller(request, Permission.APPROVE_NOTICES)
        against = services.reason_against_approval(notice=notice, pack=pack, facts=facts, caller=who)
    return shown | {
        "sections": list(_sections(revision, facts)),
        "elements": checklist.check(facts, pack, revision, selectors.delivered_at(notice)),
        "problems": checklist.problems(facts, pack, revision),
        "deadlines": clocks.deadlines(pack, facts, received_at=notice.decision.received_at),
        "reasons": _reasons(request, notice, against),
    }


def reason_against_editing(request: HttpRequest, notice: Notice) -> str:
    """Why the operator cannot edit this notice now; "" if they can."""
    refused = refusal(request, Permission.DRAFT_NOTICES)
    if refused or notice.state in EDITABLE:
        return refused
    return f"The notice is {notice.get_state_display().lower()}. Make a new version of it."


def _reasons(request: HttpRequest, notice: Notice, against_approval: str) -> dict[str, str]:
    """Why each of ACTIONS cannot be done now, or ""; by name, with underscores as templates need them."""
    reasons = {
        name: refusal(request, action.permission) or action.reason_against(notice) for name, action in ACTIONS.items()
    }
    reasons["approve"] = reasons["approve"] or against_approval
    return {name.replace("-", "_"): reason for name, reason in reasons.items()}


def _sections(revision: NoticeRevision, facts: Facts) -> Iterator[tuple[str, list[Sentence]]]:
    found = {each.source: each for each in checklist.citations(facts, revision.content, revision.cited)}
    number = 0
    for name, label in SECTIONS.items():
        sentences = []
        for item in revision.content.get(name, []):
            number += 1
            citation = found[item["source"]]
            mark = "missing" if not citation.resolves else "changed" if citation.changed else "resolves"
            sentences.append(Sentence(number, item["statement"], item["source"], _spelled(citation.value), mark))
        yield label, sentences


def _spelled(value: Scalar) -> str:
    """A value as the record spells it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _history(notice: Notice) -> Iterator[Event]:
    for row in notice.revisions.order_by("number"):
        what = "drafted" if row.number == 1 else f"edited: revision {row.number}"
        yield Event(row.created_at, row.author_label, what, " ".join(row.not_applicable.values()))
    for step in notice.steps.all():
        yield Event(step.created_at, step.actor_label, step.get_kind_display().lower(), step.reason)
    approval = getattr(notice, "approval", None)
    if approval:
        sure = "by an authority grant" if approval.grant_id else f"unverified, {approval.basis}"
        yield Event(
            approval.created_at, approval.approver, f"approved as {approval.authority} ({sure})", approval.comment
        )
    for delivery in notice.deliveries.all():
        if delivery.delivered_at:
            yield Event(
                delivery.delivered_at, delivery.recorded_by, f"delivered: {delivery.get_channel_display().lower()}"
            )
        if delivery.returned_at:
            yield Event(delivery.returned_at, "", "came back", delivery.returned_because)
