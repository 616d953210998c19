"""Outline of a letter: its printed parts in reading order, the same for every form.

People edit content and recipient freely, so a value of the wrong type is not printed.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from notices.bidi import contained
from notices.letters import recipient
from notices.letters.labels import Labels, language_of, languages
from notices.letters.letter import Letter
from notices.letters.printable import printable, printable_lines
from notices.localization import catalog
from notices.localization.sentences import isolate
from notices.packs import base_language


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of text as it is printed, and the number of the source it cites; 0 for none."""

    text: str
    source: int = 0

    @property
    def direction(self) -> str:
        """`rtl` or `ltr`, by the first letter: WeasyPrint does not support `dir=auto`."""
        classes = map(unicodedata.bidirectional, self.text)
        return "rtl" if next((c for c in classes if c in ("L", "R", "AL")), "L") != "L" else "ltr"


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its list of sentences, and paragraphs after it. `name` is its content field."""

    name: str
    heading: str
    items: list[Line]
    paragraphs: list[Line]

    @property
    def is_running(self) -> bool:
        """Whether its sentences follow one another in a paragraph, rather than each on a line."""
        return self.name in ("decision_summary", "role_of_automated_system")


@dataclass(frozen=True, slots=True)
class Outline:
    """The printed parts. `facts` are above the title, each with name and label; `sources` count from 1."""

    language: str
    labels: Labels
    organization: Line
    sender: list[Line]
    recipient: list[Line]
    greeted: Line
    """The name in the greeting; an empty line gives a greeting without a name."""
    closing: list[Line]
    facts: list[tuple[str, str, Line]]
    title: Line
    sections: list[Section]
    sources: list[str]


def outline_of(letter: Letter) -> Outline:
    """Return what a letter prints, without empty parts, values of the wrong type, and headings without text."""
    language = language_of(letter.content.get("language"))
    labels = languages()[base_language(language)]
    numbers: dict[str, int] = {}
    return Outline(
        language=language,
        labels=labels,
        organization=_line(letter.organization),
        sender=list(_sender(letter)),
        recipient=[Line(contained(line)) for line in recipient.address_lines(letter.recipient)],
        greeted=_line(recipient.greeted(letter.recipient)),
        closing=list(_closing(letter, labels)),
        facts=list(_facts(letter, language, labels)),
        title=Line(contained(printable(letter.content.get("title"))) or labels["title"]),
        sections=[part for part in _sections(letter.content, labels, numbers) if part.items or part.paragraphs],
        sources=[contained(source) for source in numbers],
    )


def _sections(content: Mapping[str, Any], labels: Labels, numbers: dict[str, int]) -> Iterator[Section]:
    def cited(name: str, then: str = "") -> Section:
        return Section(name, labels[name], _statements(content.get(name), numbers), _lines(content.get(then)))

    def paragraphs(name: str, heading: str) -> Section:
        return Section(name, labels[heading], [], _lines(content.get(name)))

    yield cited("decision_summary")
    yield cited("main_factors")
    yield cited("role_of_automated_system")
    yield cited("inputs_used", then="how_to_request_inputs")
    yield Section("rights", labels["rights"], _items(content.get("rights")), [])
    yield paragraphs(
        "how_to_request_review", "review" if content.get("human_review_available") is True else "no_review"
    )
    yield paragraphs("deadline_note", "deadline_note")


def _statements(items: Any, numbers: dict[str, int]) -> list[Line]:
    """Return statement items as lines. A source gets its number at its first citation."""
    lines = []
    for item in items if isinstance(items, list) else []:
        text = printable(item.get("statement")) if isinstance(item, Mapping) else ""
        if text:
            source = printable(item.get("source"))
            lines.append(Line(contained(text), numbers.setdefault(source, len(numbers) + 1) if source else 0))
    return lines


def _items(values: Any) -> list[Line]:
    return [line for value in (values if isinstance(values, list) else []) if (line := _line(value)).text]


def _lines(value: Any) -> list[Line]:
    return [Line(contained(line)) for line in printable_lines(value)]


def _line(value: Any) -> Line:
    return Line(contained(printable(value)))


def _sender(letter: Letter) -> Iterator[Line]:
    """Yield address and contact, without a repeated name of the organization at the start of a line."""
    name = printable(letter.organization)
    again = re.compile(rf"(?i){re.escape(name)}\s*(?:[,;:|\u2013\u2014-]\s*|$)") if name else None
    for line in printable_lines(letter.sender):
        text = again.sub("", line, count=1) if again and again.match(line) else line
        if text:
            yield Line(contained(text))


def _closing(letter: Letter, labels: Labels) -> Iterator[Line]:
    """Yield the closing words and the signatory: a person with function and telephone, or the organization."""
    signatory = {name: printable(letter.signatory.get(name)) for name in ("name", "function", "telephone")}
    yield Line(labels["closing"])
    if not (signatory["name"] or signatory["function"]):
        yield _line(letter.organization)
    for name in ("name", "function"):
        if signatory[name]:
            yield _line(signatory[name])
    if signatory["telephone"]:
        yield Line(labels["fact"].format(label=labels["telephone"], value=isolate(contained(signatory["telephone"]))))


def _facts(letter: Letter, language: str, labels: Labels) -> Iterator[tuple[str, str, Line]]:
    values = {
        "date": catalog(base_language(language), letter.locale).format_date(letter.dated),
        "reference": printable(letter.recipient.get("reference")),
        "number": letter.notice_id,
        "rules": printable(letter.content.get("framework")),
        "approval": labels["asserted"].format(key=letter.asserted_by) if letter.asserted_by else "",
    }
    for name, value in values.items():
        if value:
            yield name, labels[name], _line(value)
