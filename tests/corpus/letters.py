"""The letter about each record of the corpus, drafted and checked by the service's own code, without a database."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import time_machine

from notices import checklist, deadlines, previews, warnings
from notices.letters import render_text
from notices.packs import packs
from notices.readability import measure, without_prescribed
from notices.record_paths import Facts

ROOT = Path(__file__).parent
PLACEHOLDERS = {
    "organization": "Example House",
    "contact": "Example House, Reviews, 1 Example Street, Example City",
    "creditor_name": "Example House Credit, Inc.",
    "creditor_address": "1 Example Street, Example City, NY 10000",
    "agency_name_and_address": "the Example Bureau, 2 Example Street, Washington, DC 20000",
    "consumer_reporting_agency": "Example Settings Agency, 3 Example Street, Example City, 1-800-555-0100",
    "appeal_address": "Example House, Appeals, 4 Example Street, Example City",
    "appeal_days": "180",
    "appeal_telephone": "1-800-555-0101",
    "external_review_contact": "Example Review Office, 6 Example Street, Example City, 1-800-555-0103",
    "consumer_assistance_contact": "Example Consumer Assistance, 1-800-555-0102",
    "privacy_rights_page": "https://house.example/privacy",
}
"""The settings of the organization that writes all the letters."""
SENDER = previews.Sender(PLACEHOLDERS["organization"], PLACEHOLDERS)
_RECIPIENT = {"name": "Robin Example", "address": ["5 Example Street", "Example City"]}
_UNKNOWN_DAY = datetime.fromisoformat("2026-11-24T09:00:00+00:00")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A letter, and what whoever approves it is told."""

    content: dict
    text: str
    problems: list[str]
    warnings: list[str]
    untold: list[str]
    deadlines: list[str]
    flesch: float | None
    flesch_of_own_words: float | None
    """Without the texts that the law prescribes."""

    def __str__(self) -> str:
        lists = {"Problems": self.problems, "Warnings": self.warnings, "Untold": self.untold, "Due": self.deadlines}
        told = "".join(
            f"\n{name}: {len(lines)}\n" + "".join(f"- {line}\n" for line in lines) for name, lines in lists.items()
        )
        eases = (self.flesch, self.flesch_of_own_words)
        ease = "not measured" if None in eases else "{:.0f}, without prescribed texts {:.0f}".format(*eases)
        return _visible(f"{self.text}\n{'=' * 78}\n{told}\nFlesch: {ease}\n")


def _visible(text: str) -> str:
    """A text with what nobody sees in it, such as marks of direction, as its number. Emoji are joined by U+200D."""
    hidden = {one for one in text if unicodedata.category(one) == "Cf" and one != "\u200d"}
    return text.translate({ord(one): f"<U+{ord(one):04X}>" for one in hidden})


@dataclass(frozen=True, slots=True)
class Entry:
    """A record of the corpus and the pack that its directory names."""

    record: Path

    @property
    def name(self) -> str:
        return f"{self.pack}/{self.record.stem}"

    @property
    def pack(self) -> str:
        return self.record.parent.name

    @property
    def snapshot(self) -> Path:
        return self.record.with_suffix(".txt")


def entries() -> list[Entry]:
    """The records of packs that there are, in order."""
    return [Entry(path) for path in sorted(ROOT.glob("*/*.json")) if path.parent.name in packs()]


def stale() -> Iterator[Path]:
    """Letters that have no record any more."""
    return (path for path in ROOT.glob("*/*.txt") if not path.with_suffix(".json").exists())


@cache
def review(entry: Entry) -> Reviewed:
    """The letter about a record as the service drafts it when the record comes, in the person's language."""
    facts, pack = Facts(entry.record.read_bytes()), packs()[entry.pack]
    received_at = _decided(facts) + timedelta(hours=1)
    with time_machine.travel(received_at + timedelta(days=1), tick=False):
        found = previews.preview(facts, pack, SENDER, recipient=_RECIPIENT, now=received_at)
        own = without_prescribed(found.content, pack, found.language)
        items, untold = checklist.check(found.case, found), checklist.untold_fields(found.case, found.content)
        return Reviewed(
            content=dict(found.content),
            text=render_text(replace(found.letter, mark="", dated=datetime.now(UTC).date())),
            problems=checklist.problems(found.case, found, items, untold),
            warnings=[each.line for each in warnings.find(found.case, found.content, items=items)],
            untold=[f"{each.path} ({each.kind})" for each in untold],
            deadlines=[each.arithmetic for each in deadlines.compute(pack, facts, received_at=received_at)],
            flesch=measure(found.content, found.language).flesch,
            flesch_of_own_words=measure(own, found.language).flesch,
        )


def _decided(facts: Facts) -> datetime:
    """When it was decided, or a day of our own where the record gives none that a letter can be dated by."""
    decided = deadlines.parse_moment(facts.get("decided_at"))
    return decided if decided and 2000 < decided.year < 2100 else _UNKNOWN_DAY


def table() -> str:
    """The corpus in numbers, as Markdown. Flesch is the mean of the letters in English, then of their own words."""
    found: dict[tuple[str, str], list[Reviewed]] = {}
    for entry in entries():
        letter = review(entry)
        found.setdefault((entry.pack, letter.content["language"]), []).append(letter)
    rows = [(pack, language, *_numbers(letters)) for (pack, language), letters in sorted(found.items())]
    total = ("all", "", *_numbers([letter for letters in found.values() for letter in letters]))
    head = ("pack", "language", "letters", "without problems", "problems", "warnings", "untold", "Flesch", "own words")
    lines = [head, ("---",) * 2 + ("---:",) * 7, *rows, total]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _numbers(letters: list[Reviewed]) -> tuple[int | str, ...]:
    return (
        len(letters),
        sum(not letter.problems for letter in letters),
        sum(len(letter.problems) for letter in letters),
        sum(len(letter.warnings) for letter in letters),
        sum(len(letter.untold) for letter in letters),
        _mean([letter.flesch for letter in letters]),
        _mean([letter.flesch_of_own_words for letter in letters]),
    )


def _mean(eases: list[float | None]) -> str:
    known = [ease for ease in eases if ease is not None]
    return f"{sum(known) / len(known):.1f}" if known else "-"
