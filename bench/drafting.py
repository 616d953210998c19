"""Drafting a notice with its checklist, reading its record from the vault, storing drafts, and rendering letters.

Each measurement runs once over the same 1,000 records, of 4 KB and 106 fields each, so that none is read twice warm.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from accounts import callers
from accounts.models import Organization
from bench.pages import percentile
from bench.report import Figure
from bench.rounds import sized
from bench.subject import PLACEHOLDER, record
from custody import selectors as custody
from decisions.models import Decision
from decisions.services import ingest_lines
from notices import checklist, drafting, letters, selectors, services
from notices.models import Notice, NoticeRevision
from notices.packs import packs
from notices.phrasebook import Phrasebook
from notices.record_paths import Facts

RECORDS, LETTERS = sized(1000), sized(100, minimum=5)
LIMIT_MILLISECONDS = 30


def measure() -> Iterator[Figure]:
    """Ingest the records, and time each step on all of them."""
    organization = Organization.objects.get()
    lines = [record().replace(PLACEHOLDER.encode(), f"draft-{n}".encode()) for n in range(RECORDS)]
    shell = callers.command_line(organization.id)
    for _ in ingest_lines(caller=shell, lines=lines, source="bench"):
        pass
    rows = (
        Decision.objects.for_organization(organization)
        .filter(decision_id__startswith="draft-")
        .select_related("record", "organization")
    )
    decisions = list(rows)
    pack = packs()["us_ecoa_fcra"]
    book = Phrasebook()

    def read(decision: Decision) -> Facts:
        return Facts(custody.opened(decision.record).payload)

    def write(decision: Decision, facts: Facts) -> Any:
        content = drafting.draft(facts, pack, "en", book, {"organization": "Bench"}).content
        revision = NoticeRevision(
            notice=Notice(decision=decision), content=content, cited=checklist.cited_values(facts, content)
        )
        case = checklist.Case(
            facts=facts,
            pack=pack,
            received_at=decision.received_at,
            reader_language="",
            redaction=drafting.redaction_of(facts, pack, book),
            delivered_at=None,
            requested_review=None,
        )
        return checklist.problems(case, revision)

    facts = [read(decision) for decision in decisions]
    drafts: list[Notice] = []

    def store(decision: Decision) -> None:
        drafts.append(services.draft(decision=decision, pack=pack, recipient={}, caller=shell))

    yield from _times("read a record from the vault", read, [(decision,) for decision in decisions])
    yield from _times("draft and check it", write, list(zip(decisions, facts, strict=True)))
    yield from _times("all of it, stored", store, [(decision,) for decision in decisions], at_most=LIMIT_MILLISECONDS)
    yield from _times(
        "a letter as PDF",
        lambda notice: letters.render_pdf(selectors.letter(notice), "a4"),
        [(notice,) for notice in drafts[:LETTERS]],
    )


def _times(name: str, do: Callable[..., Any], arguments: list[tuple[Any, ...]], **goal: float) -> Iterator[Figure]:
    milliseconds = []
    for call in arguments:
        begun = time.perf_counter()
        do(*call)
        milliseconds.append((time.perf_counter() - begun) * 1000)
    yield Figure(f"{name}: median", statistics.median(milliseconds), "ms", **goal)
    yield Figure(f"{name}: p99", percentile(milliseconds, 0.99), "ms")
    yield Figure(f"{name}: items", 1000 * len(milliseconds) / sum(milliseconds), "/s")
