from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from notices.deadlines import OCCURRENCES
from notices.packs import Clock, Element, Pack, packs, placeholders

DIRECTORY: Path = settings.BASE_DIR / "docs" / "packs"
INDEX = "README.md"

_NOTE = "*Generated from `notices/packs` by `manage.py pack_pages`: change the pack, not this page.*\n"
_STATUS = {
    "in_force": "in force",
    "enacted": "enacted, but its force is unsettled: elements warn and never block",
    "policy": "an organization's own policy; it claims no law",
}
_REVIEW = {
    "required": "required",
    "optional": "may be offered",
    "not_granted": "not granted by this law; may be offered on another ground",
}
_AUTOMATION = {"involved": "those that a system had a part in", "solely": "those that a system made alone"}
_READING = {
    "primary": "official text",
    "copy": "public copy",
    "secondary": "what others write about it",
    "unconfirmed": "not confirmed, so it never blocks",
    "own": "own policy",
}
_DUE = {
    "notice": "the notice",
    "answer": "the answer to a request",
    "acknowledgement": "word that a request came in",
}


class Command(BaseCommand):
    help = "Write docs/packs: one page for each notice pack, from the pack's data. With --check, only compare."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is not current")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["check"]:
            write(DIRECTORY)
        elif stale := outdated(DIRECTORY):
            raise CommandError(f"Not current: {', '.join(stale)}. Run: manage.py pack_pages")


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    return {INDEX: _index(packs().values()), **{f"{name}.md": _page(pack) for name, pack in packs().items()}}


def outdated(directory: Path) -> list[str]:
    """Return the names of pages that are missing or stale, or belong to no pack."""
    current = pages()
    files = {path.name: path.read_text(encoding="utf-8") for path in directory.glob("*.md")}
    return sorted(name for name in current.keys() | files.keys() if current.get(name) != files.get(name))


def write(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    current = pages()
    for path in directory.glob("*.md"):
        if path.name not in current:
            path.unlink()
    for name, page in current.items():
        (directory / name).write_text(page, encoding="utf-8")


def _index(all_packs: Iterable[Pack]) -> str:
    rows = [
        (
            f"[`{pack.id}`]({pack.id}.md)",
            pack.short_name,
            _framework(pack),
            _STATUS[pack.legal_status],
            _effect(pack),
            _languages(pack),
        )
        for pack in all_packs
    ]
    table = _table(("pack", "short name", "law", "status", "in effect", "languages"), rows)
    return (
        f"# Notice packs\n\n{_NOTE}\nWhat the service checks in the notices of each law. This is not legal advice. "
        f"How to add one: [adding a pack](../adding-a-pack.md).\n\n{table}"
    )


def _page(pack: Pack) -> str:
    parts = [
        f"# {_framework(pack)}\n\n{_NOTE}",
        "What the service checks in a notice of this pack, and its sources. This is not legal advice.\n",
        _facts(pack),
        _section("What is checked", _elements(pack)),
        _section("Time limits", _clocks(pack)),
        _section("Fixed texts", _locked(pack)),
        _section("Numbers of the law", _by_law(pack)),
        _section("Weak reasons", _weak_reasons(pack)),
        _section("Cautions", _cautions(pack)),
        _section("Fields of the record", _record(pack)),
        _section("Sources", _sources(pack)),
    ]
    return "\n".join(part for part in parts if part)


def _facts(pack: Pack) -> str:
    floor = "none"
    if pack.retention_source:
        floor = f"{pack.retention_days} days ({pack.source(pack.retention_source).citation})"
    rows = [
        ("pack", f"`{pack.id}`, version {pack.version}"),
        ("short name", pack.short_name),
        ("status", _STATUS[pack.legal_status]),
        ("in effect", _effect(pack)),
        ("languages", _languages(pack)),
        ("review by a person", _REVIEW[pack.human_review]),
        ("records are kept for at least", floor),
        *_scope(pack),
    ]
    return _table(("", ""), rows)


def _scope(pack: Pack) -> Iterable[tuple[str, str]]:
    for path, covered in pack.covers.items():
        yield f"only for these kinds of `{path}`", ", ".join(covered)
    if pack.scope.automation != "any":
        yield "decisions", _AUTOMATION[pack.scope.automation]
    if pack.scope.rights_from:
        yield "its rights are told", f"of decisions from {pack.scope.rights_from.isoformat()}"
    if pack.scope.national_law:
        laws = (f"{country} ({law})" if law else country for country, law in pack.scope.national_law.items())
        yield "binds through the law of", ", ".join(laws)
    for one in pack.frameworks:
        yield f"printed as, {_when(one.applies)}", _text(pack).frameworks[one.id]


def _elements(pack: Pack) -> str:
    labels = _text(pack).labels
    rows = [
        (labels[one.id], f"`{one.where}`", _when(one.applies), _effect_of(pack, one), one.citation, f"`{one.id}`")
        for one in pack.elements
    ]
    return _table(("the notice", "field", "when", "if not", "from", "id"), rows)


def _effect_of(pack: Pack, element: Element) -> str:
    if element.check == "sent_before":
        return f"warns of lateness ({element.authority})"
    if element.advice:
        return f"is advice ({element.authority})"
    warns = f"warns ({element.authority})"
    # An element that blocks at all blocks on the pack's first day.
    if not pack.blocks(element, pack.effective_from):
        return warns
    limited = element.blocks_if != "always"
    return f"blocks approval `{element.blocks_if}`, else {warns}" if limited else "blocks approval"


def _clocks(pack: Pack) -> str:
    rows = [
        (_DUE[clock.what], _length(clock), _after(clock), _when(clock.applies), clock.authority, clock.citation)
        for clock in pack.clocks
    ]
    return _table(("due", "within", "after", "when", "authority", "from"), rows) if rows else ""


def _length(clock: Clock) -> str:
    more = [f"public holidays: {clock.calendar}"] if clock.calendar else []
    if clock.extension_days:
        more.append(f"{clock.extension_days} days more, once, if the person was told in time")
    if clock.missing_information_days:
        more.append(f"paused for missing information, at most {clock.missing_information_days} days or as stated")
    return f"{clock.length} ({'; '.join(more)})" if more else clock.length


def _after(clock: Clock) -> str:
    if clock.what != "notice":
        return "the person asks"
    occurrence = OCCURRENCES[clock.trigger][0]
    return f"{occurrence.happened} ({', '.join(f'`{path}`' for path in occurrence.paths)})"


def _locked(pack: Pack) -> str:
    if not pack.locked:
        return ""
    texts = _text(pack).locked
    rows = [(texts[one.id], _when(one.applies), one.citation) for one in pack.locked]
    names = dict.fromkeys(name for one in pack.locked for name in placeholders(texts[one.id]))
    fields = ", ".join(f"`{name}`{_recorded(pack, name)}" for name in names)
    filled = f"\nFilled from the organization's settings: {fields}.\n" if fields else ""
    intro = "Editors cannot change these. They are printed among the rights.\n\n"
    return intro + _table(("text", "when", "from"), rows) + filled


def _weak_reasons(pack: Pack) -> str:
    if not pack.weak_reasons:
        return ""
    patterns = _text(pack).weak_reasons
    rows = [
        (weak.advice, ", ".join(f"`{mark}`" for mark in patterns[weak.id].marks), weak.citation)
        for weak in pack.weak_reasons
    ]
    intro = "A reason that says no more than this gets a warning, however it is worded. It has one of these words.\n\n"
    return intro + _table(("advice", "words", "from"), rows)


def _by_law(pack: Pack) -> str:
    rows = [
        (f"`{law.placeholder}`", f"{law.value}{' or more' if law.at_least else ''}", _when(law.applies), law.citation)
        for law in pack.by_law
    ]
    intro = "Printed where the record has none, or a number the law does not allow. The latter is also a warning.\n\n"
    return intro + _table(("in the texts", "number", "when", "from"), rows) if rows else ""


def _cautions(pack: Pack) -> str:
    rows = [(f"{one.sentence}.", _when(one.applies), one.citation) for one in pack.cautions]
    intro = "Warnings for the approver. They are about the record, whatever the letter says.\n\n"
    return intro + _table(("warning", "when", "from"), rows) if rows else ""


def _recorded(pack: Pack, name: str) -> str:
    paths = ", ".join(f"`{path}`" for path in pack.from_record.get(name, ()))
    return f" (before them from the record: {paths})" if paths else ""


def _record(pack: Pack) -> str:
    if not pack.record_paths:
        return ""
    return "The pack asks for these by name.\n\n" + "".join(f"- `{path}`\n" for path in pack.record_paths)


def _sources(pack: Pack) -> str:
    lines = []
    for source in pack.sources:
        citation = f"[{source.citation}]({source.url})" if source.url else source.citation
        quote = f": “{source.quote}”" if source.quote else ""
        lines.append(f"- {citation}{quote} ({_READING[source.reading]}, {source.read_on:%B %Y})\n")
    return "".join(lines)


def _text(pack: Pack) -> Any:
    return pack.text(pack.language_for("en"))


def _framework(pack: Pack) -> str:
    return str(_text(pack).framework)


def _effect(pack: Pack) -> str:
    until = f" until {pack.effective_to.isoformat()}" if pack.effective_to else ""
    return f"from {pack.effective_from.isoformat()}{until}"


def _languages(pack: Pack) -> str:
    return ", ".join(pack.languages)


def _when(applies: str) -> str:
    return applies.replace("_", " ") if applies in ("always", "on_request") else f"`{applies}`"


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n\n{body}" if body else ""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
