"""Drafts of records and phrases without a database, for the tests of drafting."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from types import ModuleType

from decisions import samples
from notices import demo
from notices.checklist import Case, all_problems, stated
from notices.drafting import Draft, draft, redaction_of
from notices.packs import Pack, packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts
from notices.warnings import ApprovalWarning, find
from notices.warnings.elements import Words
from notices.warnings.findings import Finding

STATEMENTS = ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used")
EVERY = [(name, language) for name in sorted(packs()) for language in packs()[name].languages]
LANGUAGES = ("en", "de", "fr")
END_MARKS = (".", "!", "?", "…", "\u3002", "\uff01", "\uff1f", "\u061f", "\u06d4", "\u0964")


def drafted(
    record: dict | bytes,
    pack: str | Pack = "general",
    language: str = "en",
    *phrases: Phrase,
    placeholders: dict[str, str] | None = None,
) -> dict:
    return whole_draft(record, pack, language, *phrases, placeholders=placeholders).content


def whole_draft(
    record: dict | bytes,
    pack: str | Pack = "general",
    language: str = "en",
    *phrases: Phrase,
    placeholders: dict[str, str] | None = None,
) -> Draft:
    chosen = packs()[pack] if isinstance(pack, str) else pack
    return draft(facts_of(record), chosen, language, Phrasebook(phrases), placeholders or {})


def facts_of(record: dict | bytes) -> Facts:
    return Facts(record if isinstance(record, bytes) else json.dumps(record).encode())


def under_each_pack(records: Iterable[bytes]) -> Iterator[tuple[bytes, str, str]]:
    """Yield each record in every language, under the pack of its law and one other pack in turn."""
    for number, raw in enumerate(records):
        own = demo.PACKS.get(json.loads(raw)["decision_id"])
        for language in LANGUAGES:
            known = [pack for pack, spoken in EVERY if spoken == language]
            chosen = {known[number % len(known)], own}
            yield from ((raw, pack, language) for pack in known if pack in chosen)


def statements(content: dict) -> list[dict]:
    return [item for name in STATEMENTS for item in content[name]]


def statement_texts(content: dict, *fields: str) -> list[str]:
    return [item["statement"] for name in fields or STATEMENTS for item in content[name]]


def inputs(fields: dict, language: str = "en", *phrases: Phrase) -> list[str]:
    return statement_texts(drafted({"events": {"application": fields}}, "general", language, *phrases), "inputs_used")


def factors(outcome: dict, events: dict | list | None = None, language: str = "en", *phrases: Phrase) -> list[str]:
    return statement_texts(
        drafted({"events": events or {}, "outcome": outcome}, "general", language, *phrases), "main_factors"
    )


def sample(decision_id: str) -> bytes:
    return next(raw for raw in samples.synthetic_records() if json.loads(raw)["decision_id"] == decision_id)


def sample_phrases(language: str) -> list[Phrase]:
    with open(samples.SAMPLES / "phrasebook.csv", newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["language"] == language]
    return [Phrase(row["key"], row["sentence"], row["label"], row["withheld"] == "yes") for row in rows]


def case(record: dict | bytes, pack: str = "general", *phrases: Phrase) -> Case:
    """Return the case that a draft about a record is checked against, without a database."""
    facts = facts_of(record)
    redaction = redaction_of(facts, packs()[pack], Phrasebook(phrases))
    return Case(facts, packs()[pack], datetime.now(UTC), "", redaction, None, None)


def checked_draft(
    record: dict | bytes,
    pack: str = "general",
    language: str = "en",
    *phrases: Phrase,
    placeholders: dict[str, str] | None = None,
) -> tuple[Case, dict]:
    """Return the case and the content of a draft. The record is read once."""
    facts, chosen = facts_of(record), packs()[pack]
    made = draft(facts, chosen, language, Phrasebook(phrases), placeholders or {})
    drafted_as = stated(made.content)
    return Case(facts, chosen, datetime.now(UTC), "", made.redaction, None, None, drafted=drafted_as), made.content


def warnings_of(
    record: dict | bytes, pack: str = "general", language: str = "en", **content: list[dict]
) -> list[ApprovalWarning]:
    """Return the warnings about a record's draft, with some of its content replaced."""
    checked, own = checked_draft(record, pack, language)
    return find(checked, {**own, **content})


def findings_of(
    rule: ModuleType, record: dict | bytes, pack: str = "general", language: str = "en", **content: list[dict]
) -> list[Finding]:
    """Return the findings of one warning rule about a record's draft with some content replaced, all as a person's."""
    checked, own = checked_draft(record, pack, language)
    return list(rule.findings(replace(checked, drafted=frozenset()), {**own, **content}))


def listed_problems(checked: Case, content: dict) -> list[str]:
    """Return all problems of a content, including those that an advisory pack only lists."""
    return [problem.sentence for problem in all_problems(checked, Words(content, {}))]


def warned(kind: str, warnings: list[ApprovalWarning]) -> list[ApprovalWarning]:
    """Return the warnings of a kind."""
    return [warning for warning in warnings if warning.id.rpartition("-")[0] == kind]
