"""Reasons of a decision and the person behind it, as the profile fields of its record state them."""

from dataclasses import dataclass
from typing import Any

from config.http import strict_json
from config.http.strict_json import LITERALS, spelling
from config.words import in_words
from decisions import records

MAX_REASONS = 12
_MAX_TEXT = 1000  # characters
_NUL = "\N{SYMBOL FOR NULL}"  # no page can show the character itself


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason in the record's words, or a factor with its value and direction if the record states them."""

    text: str
    code: str = ""
    value: str = ""
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Statements of a record about its outcome.

    Attributes:
        reasons: the reasons, or the principal factors of a record without reasons.
        path: the field that they are from.
        others: the number of entries there that are not among `reasons`.
        approver, authority: the person who approved the decision.
        is_automated: whether the record says that no person took part.
    """

    reasons: list[Reason]
    path: str
    others: int
    approver: str
    authority: str
    is_automated: bool


def summary(payload: bytes) -> Summary:
    """Return the summary of a record from bytes that `strict_json.read` accepts."""
    content = strict_json.read(payload, number=spelling, integer=spelling)
    outcome = content.get("outcome")
    outcome = outcome if isinstance(outcome, dict) else {}
    field, entries, read = "reasons", _entries(outcome, "reasons"), _reason
    if not entries:
        field, entries, read = "principal_factors", _entries(outcome, "principal_factors"), _factor
    reasons = [reason for reason in map(read, entries) if reason][:MAX_REASONS]
    return Summary(
        reasons=reasons,
        path=f"outcome.{field}",
        others=len(entries) - len(reasons),
        approver=records.text(content, "approval", "approver"),
        authority=records.text(content, "approval", "authority"),
        is_automated=outcome.get("solely_automated") is True,
    )


def reasons(outcome: Any) -> list[Reason]:
    """Return the reasons under a record's `outcome`, without entries of other shapes than the profile's."""
    entries = _entries(outcome, "reasons") if isinstance(outcome, dict) else []
    return [reason for reason in map(_reason, entries) if reason]


def as_text(value: Any) -> str:
    """Return a scalar of a record as text, numbers as the record spells them."""
    if isinstance(value, bytes):
        return value.decode()
    return value.replace("\x00", _NUL) if isinstance(value, str) else LITERALS[value]


def _entries(outcome: dict[str, Any], field: str) -> list[Any]:
    value = outcome.get(field)
    return value if isinstance(value, list) else [value] if isinstance(value, str | dict) and value else []


def _reason(entry: Any) -> Reason | None:
    if isinstance(entry, str):
        return Reason(_text(entry)) if entry.strip() else None
    if not isinstance(entry, dict):
        return None
    text, code = (_text(entry.get(key)) for key in ("text", "code"))
    return Reason(text, code) if text else Reason(code) if code else None


def _factor(entry: Any) -> Reason | None:
    if not isinstance(entry, dict):
        return _reason(entry)
    name, direction = (_text(entry.get(key)) for key in ("factor", "direction"))
    value = entry.get("value")
    shown = as_text(value) if value is not None and not isinstance(value, dict | list) else ""
    return Reason(in_words(name), value=_text(shown), direction=direction) if name else None


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        return ""
    text = as_text(value)
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
