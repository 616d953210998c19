"""The table of docs/srf-record.md, written from the packs and from drafts: `python -m docs.record_fields`."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from decisions.misspellings import PROFILE  # noqa: E402
from notices import drafting  # noqa: E402
from notices.deadlines import OCCURRENCES, decided_on  # noqa: E402
from notices.dry_runs import record_names  # noqa: E402
from notices.packs import STATEMENT_FIELDS, Pack, flags, packs  # noqa: E402
from notices.phrasebook import Phrasebook  # noqa: E402
from notices.record_paths import Facts  # noqa: E402

PAGE = Path(__file__).with_name("srf-record.md")
_BEGIN, _END = "<!-- fields -->\n", "<!-- end of fields -->"
_NOTE = "*Generated from the packs by `make docs`: change the packs, not this table.*\n\n"
_EVENT = "events.check.income"
_LISTS = ("outcome.reasons", "outcome.principal_factors")
_VALUES: dict[str, Any] = {
    "decided_at": "2026-11-20T09:30:00Z",
    "outcome.action": "denied",
    "outcome.result": "overturned",
    "outcome.reasons": ["The income is too low."],
    "outcome.reason_codes": ["R01"],
    "outcome.principal_factors": [{"factor": "income", "value": 31000, "direction": "adverse"}],
    "outcome.what_would_have_changed": ["A higher income."],
    "outcome.score": 620,
    "subject.language": "en",
    _EVENT: 31000,
}
_SECTIONS = {
    "decision_summary": "what was decided",
    "role_of_automated_system": "system and people",
    "main_factors": "why",
    "inputs_used": "information used",
}


@cache
def table() -> str:
    """Return the table of fields the service reads: the letter's section, the packs that ask for it, its effects."""
    rows = [f"| `{name}` | {_letter(path)} | {_asked(path)} | {_effects(path)} |" for name, path in _fields()]
    return "\n".join(["| field | section of the letter | asked for by | decides |", "|---|---|---|---|", *rows])


def with_table(page: str) -> str:
    """Return the page with its table as the code has it now."""
    before, _, after = page.partition(_BEGIN)
    return before + _BEGIN + _NOTE + table() + "\n" + _END + after.partition(_END)[2]


def _fields() -> Iterator[tuple[str, str]]:
    """Yield each row's name and an example path, those of the profile first."""
    below_lists = tuple(f"{path}." for path in _LISTS)
    profile = [path for path in (*PROFILE, *_LISTS) if path != "events" and not path.startswith(below_lists)]
    others = sorted(set(record_names()) - set(profile))
    yield from ((path, path) for path in profile)
    yield "events.<event>.<field>", _EVENT
    yield from ((path, path) for path in others)


def _letter(path: str) -> str:
    citing: dict[str, list[str]] = {}
    for pack in packs().values():
        for section in _sections(pack, path):
            citing.setdefault(_SECTIONS[section], []).append(pack.id)
    return "; ".join(f"{section}{_named(names)}" for section, names in citing.items())


def _sections(pack: Pack, path: str) -> list[str]:
    """Return the sections of a draft that cite a field. The record has that field alone, or is a denial with every
    flag true."""
    cited: set[str] = set()
    for others in ({}, {"outcome.action": "denied", **dict.fromkeys(flags.FLAGS, True)}):
        sources = _sources(pack.id, _facts({**others, path: _value(path)}))
        cited.update(name for name in STATEMENT_FIELDS if any(_is_at(source, path) for source in sources[name]))
    return [name for name in STATEMENT_FIELDS if name in cited]


def _is_at(source: str, path: str) -> bool:
    return f"{source}.".startswith(f"{path}.")


@cache
def _sources(pack_id: str, facts: Facts) -> dict[str, list[str]]:
    """Return the sources that each section of a draft cites."""
    pack, names = packs()[pack_id], {"organization": "Bank", "contact": "Bank"}
    content = drafting.draft(facts, pack, pack.language_for("en"), Phrasebook(), names).content
    return {name: [item["source"] for item in content[name]] for name in STATEMENT_FIELDS}


def _facts(values: dict[str, Any]) -> Facts:
    return _read(_payload(values))


@cache
def _read(payload: bytes) -> Facts:
    """Return the facts of a record, read once for all packs."""
    return Facts(payload)


def _payload(values: dict[str, Any]) -> bytes:
    record: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = path.split(".")
        holder = record
        for key in parents:
            holder = holder.setdefault(key, {})
        holder[last] = value
    return json.dumps(_with_lists(record)).encode()


def _with_lists(value: Any) -> Any:
    """Return a value with each object that is keyed by position turned into a list."""
    if not isinstance(value, dict):
        return value
    below = {key: _with_lists(child) for key, child in value.items()}
    return list(below.values()) if set(below) == {"0"} else below


def _value(path: str) -> Any:
    if path in _VALUES or path in flags.FLAGS:
        return _VALUES.get(path, True)
    if path.endswith("_at"):
        return "2026-11-20T09:30:00Z"
    return "2026-11-20" if path.endswith("_date") else "something said"


def _asked(path: str) -> str:
    """Return the packs that ask for a field, in bold those whose law in force makes it block approval."""
    named = []
    for pack in packs().values():
        asking = [element for element in pack.elements if path in element.paths]
        if asking:
            named.append(f"**`{pack.id}`**" if any(map(pack.binds, asking)) else f"`{pack.id}`")
    return ", ".join(named)


def _effects(path: str) -> str:
    effects: dict[str, list[str]] = {}
    for pack in packs().values():
        for effect in _effects_in(pack, path):
            effects.setdefault(effect, []).append(pack.id)
    return "; ".join(f"{effect}{_named(names)}" for effect, names in effects.items())


def _effects_in(pack: Pack, path: str) -> Iterator[str]:
    if any(path in occurrence.paths for clock in pack.clocks for occurrence in OCCURRENCES[clock.trigger]):
        yield "a deadline"
    parts = (*pack.elements, *pack.clocks, *pack.locked, *pack.frameworks, *pack.by_law, *pack.cautions)
    if any(path in part.when.record_paths for part in parts):
        yield "what applies"
    if drafting.language_of(_facts({path: pack.languages[-1]}), pack, "", {}) != pack.languages[0]:
        yield "the language"
    if len({_review(pack, {path: value} if value is not None else {}) for value in (None, True, False)}) > 1:
        yield "whether a review is offered"
    for name, paths in pack.from_record.items():
        if path in paths:
            yield f"the text's `{name}`"


def _review(pack: Pack, values: dict[str, Any]) -> bool:
    facts = _facts(values)
    return drafting.review_available(facts, pack, decided_on(facts, datetime.now(UTC))) is True


def _named(names: list[str]) -> str:
    """Return the names of packs in brackets, or nothing when they are all packs."""
    return "" if len(names) == len(packs()) else f" ({', '.join(f'`{name}`' for name in names)})"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
