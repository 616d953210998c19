"""Ambiguous times in a record: fields that are named like a time, but hold no RFC 3339 time."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from custody.sealing.field_paths import segment

_MOMENT_NAME = re.compile(r"(?:.*[a-z0-9])?(?:_at|At)|timestamp", re.DOTALL)
_DAY_NAME = re.compile(r"(?:.*[a-z0-9])?(?:_date|Date)|date", re.DOTALL)
_MAX_NAME_CHARACTERS = 64
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:)(\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)?")
_EXAMPLE = "2026-11-20T09:30:00Z"

Fault = tuple[str, str]


def find(record: Any) -> Iterator[Fault]:
    """Yield the path of each ambiguous time, with what is wrong. Null, true, false, objects and lists are ignored."""
    yield from _below(record, [])


def _below(value: Any, steps: list[str | int]) -> Iterator[Fault]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in children:
        steps.append(step)
        if isinstance(child, dict | list):
            yield from _below(child, steps)
        elif isinstance(step, str) and (fault := _fault(step, child)):
            yield ".".join(map(segment, steps)), fault
        steps.pop()


def _fault(name: str, value: Any) -> str | None:
    """Return what is wrong with a value, or None. Numbers come as the bytes that spell them."""
    if len(name) > _MAX_NAME_CHARACTERS:
        return None
    is_moment = bool(_MOMENT_NAME.fullmatch(name))
    if not is_moment and not _DAY_NAME.fullmatch(name):
        return None
    if isinstance(value, bytes):
        return f"is a number, which does not say what time it means: write it as a text such as {_EXAMPLE}."
    if not isinstance(value, str):
        return None
    return _fault_of_moment(value) if is_moment or not _is_day(value) else None


def _fault_of_moment(text: str) -> str | None:
    if _is_day(text):
        return f"is a day without a time: write {_EXAMPLE}, or call it a date."
    match = _MOMENT.fullmatch(text)
    if not match or not _exists(match):
        return f"is not an RFC 3339 time: write it like {_EXAMPLE}."
    return None if match[4] else "has no offset, so it names no moment: add Z, or an offset such as +02:00."


def _is_day(text: str) -> bool:
    return bool(_DAY.fullmatch(text)) and _reads(date.fromisoformat, text)


def _exists(match: re.Match[str]) -> bool:
    """Whether the day and the time of day exist. A minute may have a leap second, 60 (RFC 3339, 5.6)."""
    day, minute, second, offset = match.groups(default="")
    second = "59" if second == "60" else second
    return _reads(datetime.fromisoformat, f"{day}T{minute}{second}{offset.upper()}")


def _reads(reader: Any, text: str) -> bool:
    try:
        reader(text)
    except ValueError:
        return False
    return True
