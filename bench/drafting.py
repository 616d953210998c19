"""Drafting a notice with its checklist, beside reading its record from the vault; and many drafts, one after another.

Every measurement draws its records from the same 1,000, of 4 KB and 106 fields each, so that none is read twice warm.
"""

import statistics
import time
from collections.abc import Callable
from typing import Any

from rich.table import Table

from accounts import callers
from accounts.models import Organization
from bench.subject import PLACEHOLDER, record
from custody import selectors as custody
from decisions.models import Decision
from decisions.services import ingest_lines
from notices import checklist, drafting, services
from notices.models import Notice, NoticeRevision
from notices.packs import packs
from notices.phrasebook import Phrasebook
from notices.record_paths import Facts

RECORDS = 1000
LIMIT_MILLISECONDS = 30


def measure() -> Table:
    """Take the records, time each part on all of them, and return the table."""
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
    table = Table("what", "median", "99 of 100", f"limit {LIMIT_MILLISECONDS} ms")
    table.add_row("read a record from the vault", *_times(read, [(each,) for each in decisions]))
    table.add_row("draft and check it", *_times(write, list(zip(decisions, facts, strict=True))))
    table.add_row(
        "all of it, stored",
        *_times(lambda d: services.draft(decision=d, pack=pack, recipient={}, caller=shell), [(d,) for d in decisions]),
    )
    return table


def _times(do: Callable[..., Any], arguments: list[tuple[Any, ...]]) -> list[str]:
    taken = []
    for each in arguments:
        begun = time.perf_counter()
        do(*each)
        taken.append((time.perf_counter() - begun) * 1000)
    share = f"{statistics.median(taken) / LIMIT_MILLISECONDS:.2f} of it"
    return [f"{statistics.median(taken):.1f} ms", f"{sorted(taken)[int(len(taken) * 0.99)]:.1f} ms", share]
