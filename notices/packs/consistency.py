"""Consistency of a pack across its files: every reference resolves, and every language has every text."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from babel.localedata import locale_identifiers

from notices import kinds
from notices.packs.models import COMMON_PLACEHOLDERS, Element, Pack, Text, placeholders
from notices.packs.parts import BINDING

PACK_FILE = "pack.toml"


class Defect(NamedTuple):
    file: str
    location: tuple[str | int, ...]
    """The table and key, as in `("elements", 3, "clock")`."""
    problem: str


def text_file(language: str) -> str:
    return f"text.{language}.toml"


def defects(pack: Pack) -> Iterator[Defect]:
    """Yield every defect across the files of a pack, once each file can be read."""
    yield from _names(pack)
    yield from _references(pack)
    yield from _authority(pack)
    yield from _human_review(pack)
    yield from _record(pack)
    for language in pack.languages:
        if language in pack.texts:
            yield from _language(pack, text_file(language), pack.text(language))


def _names(pack: Pack) -> Iterator[Defect]:
    for table in ("sources", "elements", "clocks", "locked", "weak_reasons", "cautions", "frameworks"):
        seen: Counter[str] = Counter()
        for position, part in enumerate(getattr(pack, table)):
            seen[part.id] += 1
            if seen[part.id] > 1:
                yield Defect(PACK_FILE, (table, position, "id"), f"the id {part.id!r} is used twice")
    if not pack.languages or len(set(pack.languages)) < len(pack.languages):
        yield Defect(PACK_FILE, ("languages",), "languages must be named, each once")
    if not pack.elements:
        yield Defect(PACK_FILE, (), "a pack without elements checks nothing")
    if pack.effective_to and pack.effective_to < pack.effective_from:
        yield Defect(PACK_FILE, ("effective_to",), "ends before it begins")


def _references(pack: Pack) -> Iterator[Defect]:
    known = {name: {part.id for part in getattr(pack, name)} for name in ("sources", "clocks", "locked")}
    for position, element in enumerate(pack.elements):
        for key, table in (("source", "sources"), ("clock", "clocks"), ("locked", "locked")):
            named = getattr(element, key)
            if named is not None and named not in known[table]:
                yield Defect(PACK_FILE, ("elements", position, key), f"there is no {key} {named!r} in this pack")
    for position, clock in enumerate(pack.clocks):
        if clock.source not in known["sources"]:
            yield Defect(PACK_FILE, ("clocks", position, "source"), f"there is no source {clock.source!r} in this pack")
    for position, weak in enumerate(pack.weak_reasons):
        if weak.source not in known["sources"]:
            yield Defect(
                PACK_FILE, ("weak_reasons", position, "source"), f"there is no source {weak.source!r} in this pack"
            )
    for table in ("by_law", "cautions", "prohibited_bases"):
        for position, part in enumerate(getattr(pack, table)):
            if part.source not in known["sources"]:
                yield Defect(PACK_FILE, (table, position, "source"), f"there is no source {part.source!r} in this pack")
    yield from _requests(pack)
    if pack.retention_source is not None and pack.retention_source not in known["sources"]:
        yield Defect(PACK_FILE, ("retention_source",), f"there is no source {pack.retention_source!r} in this pack")
    if bool(pack.retention_days) != bool(pack.retention_source):
        yield Defect(PACK_FILE, ("retention_days",), "a retention floor and its retention_source go together")


def _requests(pack: Pack) -> Iterator[Defect]:
    """Require the clock of an answer exactly for elements on request: it starts only when the person asks."""
    notices = {clock.id: clock.what == "notice" for clock in pack.clocks}
    for position, element in enumerate(pack.elements):
        if element.clock in notices and notices[element.clock] == element.when.on_request:
            problem = f"'on_request' goes with the clock of an answer, and {element.clock!r} is not so"
            yield Defect(PACK_FILE, ("elements", position, "clock"), problem)


def _authority(pack: Pack) -> Iterator[Defect]:
    """Refuse binding authority for sources that were not read as law, and for policies."""
    reading = {source.id: source.reading for source in pack.sources}
    if pack.advisory and pack.legal_status != "policy":
        yield Defect(PACK_FILE, ("advisory",), "only a pack with legal_status 'policy' may be advisory: a law binds")
    for table in ("elements", "clocks"):
        for position, part in enumerate(getattr(pack, table)):
            location = (table, position, "authority")
            if part.authority in BINDING and reading.get(part.source) in ("unconfirmed", "own"):
                yield Defect(PACK_FILE, location, f"{part.authority!r} needs a source that was read as law")
            if pack.legal_status == "policy" and part.authority != "guidance":
                yield Defect(PACK_FILE, location, "a policy is no law: its authority is 'guidance'")


def _human_review(pack: Pack) -> Iterator[Defect]:
    checked = any(element.check == "is_true" and element.authority in BINDING for element in pack.elements)
    if checked != (pack.human_review == "required"):
        problem = "human_review is 'required' exactly where a binding element checks that it is_true"
        yield Defect(PACK_FILE, ("human_review",), problem)


def _record(pack: Pack) -> Iterator[Defect]:
    """Check the sources of placeholders, and the locales of dates and money."""
    parts = (*pack.elements, *pack.clocks, *pack.locked)
    compared = {path for part in parts for condition in part.when.conditions for path in condition.paths}
    for position, path in enumerate(pack.asked):
        if path not in compared:
            yield Defect(PACK_FILE, ("asked", position), f"no condition of this pack compares {path!r}")
    for path, covered in pack.covers.items():
        if not kinds.has(path):
            yield Defect(PACK_FILE, ("covers", path), "is no field of notices/kinds.toml")
        elif unknown := sorted(set(covered) - kinds.names(path)):
            yield Defect(PACK_FILE, ("covers", path), f"there is no kind {unknown[0]!r} in notices/kinds.toml")
    for name in pack.from_record:
        if name not in pack.settings:
            yield Defect(PACK_FILE, ("from_record", name), f"no text of this pack has the placeholder {{{name}}}")
    named: list[tuple[str, tuple[str | int, ...]]] = [(name, ("choices", name, 0)) for name in pack.choices]
    named += [(name, ("belongs_to", part)) for part, whole in pack.belongs_to.items() for name in (part, whole)]
    for name, location in named:
        if name not in pack.settings:
            yield Defect(PACK_FILE, location, f"no text of this pack has the placeholder {{{name}}}")
    for position, law in enumerate(pack.by_law):
        if law.placeholder not in pack.settings:
            problem = f"no text of this pack has the placeholder {{{law.placeholder}}}"
            yield Defect(PACK_FILE, ("by_law", position, "placeholder"), problem)
    for language, locale in pack.locales.items():
        if language not in pack.languages:
            yield Defect(PACK_FILE, ("locales", language), f"the pack has no language {language!r}")
        elif locale.partition("_")[0] != language.partition("-")[0] or locale not in locale_identifiers():
            yield Defect(PACK_FILE, ("locales", language), f"{locale!r} is no region's way of writing {language!r}")


def _language(pack: Pack, file: str, text: Text) -> Iterator[Defect]:
    forbidding = [element.id for element in pack.elements if element.check == "forbidden_phrase"]
    for table, expected in (
        ("labels", [element.id for element in pack.elements]),
        ("forbidden", forbidding),
        ("locked", [locked.id for locked in pack.locked]),
        ("weak_reasons", [weak.id for weak in pack.weak_reasons]),
        ("frameworks", [framework.id for framework in pack.frameworks]),
    ):
        given = getattr(text, table)
        for name in expected:
            if name not in given:
                yield Defect(file, (table,), f"[{table}] lacks {name!r}")
        for name in given:
            if name not in expected:
                yield Defect(file, (table, name), f"[{table}] has {name!r}, which the pack does not know")
    if not text.rights and not text.locked:
        yield Defect(file, ("rights",), "says nothing about rights")
    yield from _placeholders(pack, file, text)
    for element in pack.elements:
        if element.check == "forbidden_phrase":
            yield from _own_words(file, text, element)


def _placeholders(pack: Pack, file: str, text: Text) -> Iterator[Defect]:
    declared = {locked.id: frozenset(locked.placeholders) for locked in pack.locked}
    for name, template in text.locked.items():
        yield from _unknown(file, ("locked", name), template, declared.get(name, frozenset()) | COMMON_PLACEHOLDERS)
        for missing in sorted(declared.get(name, frozenset()) - set(placeholders(template))):
            yield Defect(file, ("locked", name), f"does not use its placeholder {{{missing}}}")
    for field in Text.model_fields:
        value = getattr(text, field)
        templates = {"rights": text.rights, "frameworks": text.frameworks.values()}.get(field, ())
        for template in [value] if isinstance(value, str) else templates:
            # The framework is the law's name, and printed unchanged.
            allowed: frozenset[str] = frozenset() if field.startswith("framework") else COMMON_PLACEHOLDERS
            yield from _unknown(file, (field,), template, allowed)


def _unknown(file: str, location: tuple[str, ...], template: str, allowed: frozenset[str]) -> Iterator[Defect]:
    for name in placeholders(template):
        if name not in allowed:
            yield Defect(file, location, f"has the placeholder {{{name}}}, which is not declared")
    enclosed = sum(template.count(f"{{{name}}}") for name in placeholders(template))
    if template.count("{") + template.count("}") != 2 * enclosed:
        yield Defect(file, location, "has a brace that belongs to no placeholder")


def _own_words(file: str, text: Text, element: Element) -> Iterator[Defect]:
    """Refuse a pack's own text that has a phrase the pack forbids."""
    printed = getattr(text, element.where, "")
    printed_text = " ".join(printed if isinstance(printed, tuple) else [printed]).casefold()
    for phrase in text.forbidden.get(element.id, ()):
        if phrase.casefold() in printed_text:
            yield Defect(file, (element.where,), f"says {phrase!r}, which {element.id!r} forbids")
