"""What a record shows without a field that says so: by the names of its fields, and by names in it.

Packs ask for it like for a field, as in `record found.consumer_report`. Nothing of it can be cited.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Optional

from custody.sealing.field_paths import segment
from decisions.record import outcomes
from notices import kinds

PREFIX: Final = "found."
_ABOUT: Final = ("consumer_report", "credit_score", "fraud", "health_care", "insurance", "credit")
NAMES: Final = frozenset(
    (
        *_ABOUT,
        "report_agency_name",
        "report_agency_address",
        "report_agency_telephone",
        "report_agencies",
        "report_agencies_without_address",
        "incompleteness",
        "plain_counteroffer",
        "no_adverse_action",
        "inquiries_are_a_key_factor",
        "how_to_accept",
    )
)
_SAYING: Final = ("field", "subject", "system", "outcome")
"""In these, words of a text tell what a decision was about; what stands in events may be about anything."""
_NO_ADVERSE_ACTION: Final = ("approved", "incomplete", "referred", "pending", "withdrawn")
_REASONS: Final = frozenset(("reason", "reasons", "grounds", "rationale"))
_NAMING: Final = ("agency", "bureau", "bureau_name", "agency_name", "provider", "source", "vendor", "name")
_SCORES: Final = ("score", "value")
_WHOSE: Final = frozenset(("agency", "bureau", "model", "name", "provider", "source", "type", "vendor", "version"))
"""Words in the names of fields that say whose score stands beside them, or which."""
_ELSEWHERE: Final = frozenset(("employer", "employment", "merchant", "occupation"))
"""What stands below a field with one of these in its name is about a firm, which may be an agency by chance."""
_NOT_USED: Final = frozenset(
    [
        "authorisation",
        "authorised",
        "authorization",
        "authorized",
        "change",
        "consent",
        "consented",
        "consents",
        "cutoff",
        "date",
        "limit",
        "maximum",
        "minimum",
        "permission",
        "range",
        "required",
        "threshold",
    ]
)
"""A field with one of these in its name tells neither that a report was used nor what a person's score was."""
_AGENCY, _REPORT = ("agencies", "agency", "bureau", "bureaus"), ("report", "reports")
_OFFERS: Final = frozenset(("counter", "counteroffer", "offer", "offered"))
_ACCEPTING: Final = frozenset(("accept", "acceptance", "accepting"))
_HOW: Final = frozenset(
    ("address", "contact", "email", "how", "instructions", "link", "phone", "telephone", "url", "where")
)
"""Words in the names of fields that say how something is done."""
_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_SCORE, _MOST_AGENCIES = 80, 2000, 8, 5


class _Node(NamedTuple):
    key: str
    words: str
    """The key in small words, or the name of an item of a list."""
    step: str
    parent: Optional["_Node"]

    def lineage(self) -> Iterator["_Node"]:
        node: _Node | None = self
        while node:
            yield node
            node = node.parent

    @property
    def path(self) -> str:
        return ".".join(reversed([node.step for node in self.lineage()]))


class _Agency(NamedTuple):
    name: str
    address: str = ""
    telephone: str = ""


def find(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a record shows by the names in it. What it does not show is not there; the paths are of the first that shows
    it."""
    found: dict[str, Any] = {}
    agencies: dict[str, _Agency] = {}
    for node, value in _nodes(document):
        if _says_no(value) or not _NOT_USED.isdisjoint(_words_around(node, value)):
            continue
        for name in _shown_by_key(node.words):
            if name != "credit_score" or _is_number(value):
                found.setdefault(name, node.path)
        if score := _named_score(node, value):
            found.setdefault("consumer_report", score)
            found.setdefault("credit_score", score)
        for agency in _agencies(node, value):
            found.setdefault("consumer_report", node.path)
            _add(agencies, agency)
        if isinstance(value, str) and list(node.lineage())[-1].key in _SAYING:
            for name in _shown_by_text(value):
                found.setdefault(name, node.path)
    return {**found, **_of_agencies([*agencies.values()])}


def _nodes(document: Mapping[str, Any]) -> Iterator[tuple[_Node, Any]]:
    """Everything in a record but the record itself, from the top, in its order."""
    waiting: list[tuple[_Node | None, Any]] = [(None, document)]
    while waiting:
        parent, value = waiting.pop()
        if parent and not _ELSEWHERE.isdisjoint(parent.words.split()):
            continue
        if parent:
            yield parent, value
        if isinstance(value, dict):
            inside = [(_node(key, segment(key), parent), each) for key, each in value.items()]
        elif isinstance(value, list):
            inside = [(_node(_item_name(each), str(index), parent), each) for index, each in enumerate(value)]
        else:
            continue
        waiting.extend(reversed(inside))


def _node(key: str, step: str, parent: _Node | None) -> _Node:
    return _Node(key, outcomes.spelling(key).replace("_", " "), step, parent)


def _item_name(item: Any) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else ""


def _says_no(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().casefold() in ("", "no", "none", "n/a", "na", "null", "false", "not used")
    return value is None or value is False or value in ({}, [])


def _words_around(node: _Node, value: Any) -> list[str]:
    """The words of a field's name, and of a single value those of what it stands in: a consent has many fields."""
    is_single = not isinstance(value, dict | list)
    return node.words.split() + (node.parent.words.split() if node.parent and is_single else [])


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_SCORE and value.strip().isdecimal()
    return not isinstance(value, bool | dict | list)


def _named_score(node: _Node, value: Any) -> str:
    """The path of a score that is a credit score by its name, or by the report or agency it is from; "" without one.

    A score of which nobody says whose it is may be the creditor's own.
    """
    if not isinstance(value, dict):
        is_agencys = "score" in node.words.split() and any(_known_agencies(node.words))
        return node.path if is_agencys and _is_number(value) else ""
    fields = {outcomes.spelling(key): (key, each) for key, each in value.items()}
    score = next((fields[name][0] for name in _SCORES if name in fields and _is_number(fields[name][1])), None)
    if score is None:
        return ""
    said = (each for name, (_, each) in fields.items() if not _WHOSE.isdisjoint(name.split("_")))
    texts = [node.words, *(text[:_LONGEST_TEXT] for text in said if isinstance(text, str))]
    is_credit_score = _is_report(node.words) or any(map(_names_credit_score, texts))
    return f"{node.path}.{segment(score)}" if is_credit_score else ""


def _names_credit_score(text: str) -> bool:
    return bool(_patterns()["credit_score", "keys"].search(text)) or any(_known_agencies(text))


def _agencies(node: _Node, value: Any) -> Iterator[_Agency]:
    """The consumer reporting agencies that a field names, or an item of a list of them."""
    if isinstance(value, str) and len(value) <= _LONGEST_TEXT:
        for name in _known_agencies(value):
            yield _Agency(name)
    for name in _known_agencies(node.words):
        yield _Agency(name)
    field = node.parent if node.parent and node.step.isdigit() else node
    is_agency = field.words.endswith(_AGENCY)
    around = (field, field.parent) if is_agency else (field,) if field.words.endswith(_REPORT) else ()
    if not any(_is_report(each.words) for each in (node, *around) if each):
        return
    if isinstance(value, str) and is_agency and _is_name(value):
        yield _Agency(value)
    elif isinstance(value, dict):
        is_event = node.step.isdigit() and node.parent is not None and node.parent.parent is None
        yield from _named_in({outcomes.spelling(key): each for key, each in value.items()}, is_event=is_event)


def _named_in(report: Mapping[str, Any], *, is_event: bool) -> Iterator[_Agency]:
    """The agency that a report says it is of: one of its own fields, or an object with name and address."""
    for key in _NAMING:
        value = report.get(key)
        if isinstance(value, dict) and _is_name(value.get("name")):
            about = {outcomes.spelling(name): each for name, each in value.items()}
            yield _Agency(value["name"], _detail(about, "address"), _detail(about, "phone"))
            return
        if _is_name(value) and not (key == "name" and is_event):
            yield _Agency(str(value), _detail(report, "address"), _detail(report, "phone"))
            return


def _add(agencies: dict[str, _Agency], agency: _Agency) -> None:
    """Each agency once: the first that has more than a name."""
    known = agencies.get(name := _canonical(agency.name))
    is_better = known is not None and not any(known[1:]) and any(agency[1:])
    if is_better or (known is None and len(agencies) < _MOST_AGENCIES):
        agencies[name] = agency


def _detail(about: Mapping[str, Any], kind: str) -> str:
    found = (value for key, value in about.items() if key.endswith((kind, "toll_free") if kind == "phone" else kind))
    return next((str(value) for value in found if isinstance(value, str) and value.strip()), "")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NAME and bool(re.search(r"[^\W\d_]{2}", value))


def _canonical(name: str) -> str:
    return next(_known_agencies(name), name.strip().casefold())


def _of_agencies(agencies: list[_Agency]) -> dict[str, Any]:
    """Name and address go together, of several agencies too."""
    if not agencies:
        return {}
    if len(agencies) > 1:
        told: dict[str, Any] = {"report_agencies": "; ".join(", ".join(filter(None, each)) for each in agencies)}
        return told if all(map(all, agencies)) else {**told, "report_agencies_without_address": True}
    only = agencies[0]
    parts = {"name": only.name, "address": only.address, "telephone": only.telephone}
    return {f"report_agency_{key}": text for key, text in parts.items() if text}


def of_outcome(record: Callable[[str], Any]) -> dict[str, Any]:
    """What a record shows by what was decided.

    Args:
        record: gives the value at a path, None where there is nothing.
    """
    outcome = record("outcome")
    if not isinstance(outcome, dict):
        return {}
    told: dict[str, Any] = {}
    action = outcomes.kind(kinds.value(outcomes.PATHS[0], record))
    reasons = [key for key in outcome if _gives_reasons(key) and not _says_no(outcome[key])]
    is_open = action == "counteroffer" and record("outcome.counteroffer_not_accepted") is not True
    if is_open and not reasons:
        told["plain_counteroffer"] = True
    if action == "incomplete":
        told["incompleteness"] = True
    is_conditional = action == "conditionally_approved" and not reasons
    if action in _NO_ADVERSE_ACTION or is_conditional or "plain_counteroffer" in told:
        told["no_adverse_action"] = True
    if "inquir" in str(record("outcome.key_factors") or "").casefold():
        told["inquiries_are_a_key_factor"] = True
    if _tells_how_to_accept(outcome):
        told["how_to_accept"] = True
    return told


def _tells_how_to_accept(outcome: Mapping[str, Any]) -> bool:
    """Whether the outcome, or an offer in it, says how it is accepted."""
    inside = [(key, each) for key, each in outcome.items() if isinstance(each, dict)]
    offers = [each for key, each in inside if not _OFFERS.isdisjoint(outcomes.spelling(key).split("_"))]
    named = [(_ACCEPTING, outcome), *((_ACCEPTING | _HOW, offer) for offer in offers)]
    return any(
        isinstance(value, str) and not _says_no(value) and not _HOW.isdisjoint(words) and not needed.isdisjoint(words)
        for needed, fields in named
        for words, value in ((outcomes.spelling(key).split("_"), each) for key, each in fields.items())
    )


def _gives_reasons(key: str) -> bool:
    words = outcomes.spelling(key)
    return words == "principal_factors" or not _REASONS.isdisjoint(words.split("_"))


def _is_report(words: str) -> bool:
    return "consumer_report" in _shown_by_key(words)


def _shown_by_key(words: str) -> list[str]:
    if not _any_key().search(words):
        return []
    return [name for name in _ABOUT if _patterns()[name, "keys"].search(words)]


def _shown_by_text(text: str) -> list[str]:
    short = text[:_LONGEST_TEXT]
    return [name for name in _ABOUT if (name, "values") in _patterns() and _patterns()[name, "values"].search(short)]


def agency_names() -> tuple[str, ...]:
    """The names of the consumer reporting agencies that are known by name."""
    return tuple(_tables()["agencies"])


def _known_agencies(text: str) -> Iterator[str]:
    if not _any_agency().search(text):
        return iter(())
    return (name for name, pattern in _agency_patterns().items() if pattern.search(text))


@cache
def _tables() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


@cache
def _patterns() -> dict[tuple[str, str], re.Pattern[str]]:
    return {(name, kind): _pattern(_tables()[name][kind]) for name in _ABOUT for kind in _tables()[name]}


@cache
def _agency_patterns() -> dict[str, re.Pattern[str]]:
    return {name: _pattern(words) for name, words in _tables()["agencies"].items()}


@cache
def _any_key() -> re.Pattern[str]:
    """One look at a name instead of one for each thing that it may show: most names show nothing."""
    return _pattern([word for name in _ABOUT for word in _tables()[name]["keys"]])


@cache
def _any_agency() -> re.Pattern[str]:
    return _pattern([word for words in _tables()["agencies"].values() for word in words])


def _pattern(words: list[str]) -> re.Pattern[str]:
    alternatives = (re.escape(word.removesuffix("*")) + (r"\w*" if word.endswith("*") else "") for word in words)
    return re.compile(rf"(?i)(?<![^\W_])(?:{'|'.join(alternatives)})(?![^\W_])")
