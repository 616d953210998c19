"""Words, numbers and dates in the language of a notice."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from babel.dates import format_date
from babel.numbers import format_decimal
from django.utils.dateparse import parse_date, parse_datetime

from notices.facts import Scalar

_DIRECTORY = Path(__file__).parent
_WORDS = re.compile(r"[_\-\s]+|(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE_END = (".", "!", "?", "…")


@dataclass(frozen=True, slots=True)
class Wording:
    """The generic sentences of one language."""

    language: str
    sentences: Mapping[str, str]
    actions: Mapping[str, str]

    def say(self, template: str, **values: str) -> str:
        """One sentence from a template of this language."""
        return sentence(self.sentences[template].format(**values))

    def value(self, found: Scalar) -> str:
        """A value of a record as people of this language write it: numbers, dates, yes and no."""
        if found is None:
            return self.sentences["nothing"]
        if isinstance(found, bool):
            return self.sentences["yes" if found else "no"]
        if isinstance(found, int | Decimal):
            # No grouping: a number may be an identifier, and the record does not say.
            return str(format_decimal(found, locale=self.language, group_separator=False, decimal_quantization=False))
        day = _day(found)
        return str(format_date(day, format="long", locale=self.language)) if day else found

    def action(self, found: Scalar) -> str:
        """What was decided, in words where the action is a known one."""
        return self.actions.get(str(found), humanise(str(found)))


@cache
def wording(language: str) -> Wording:
    """The wording of a language, or of the language without its region.

    Raises:
        KeyError: there is none.
    """
    file = _DIRECTORY / f"{language.partition('-')[0]}.toml"
    if not file.is_file():
        raise KeyError(language)
    content: dict[str, Any] = tomllib.loads(file.read_text("utf-8"))
    actions = content.pop("actions")
    return Wording(language.partition("-")[0], content, actions)


def humanise(name: str) -> str:
    """A field's name as words: `loan_to_value` becomes `loan to value`."""
    return " ".join(part for part in _WORDS.split(name) if part).lower()


def sentence(text: str) -> str:
    """One line that begins with a capital and ends as a sentence does."""
    line = " ".join(text.split())
    if not line:
        return line
    return line[0].upper() + line[1:] + ("" if line.endswith(_SENTENCE_END) else ".")


def _day(text: str) -> date | None:
    try:
        if len(text) == len("2026-11-01"):
            return parse_date(text)
        moment: datetime | None = parse_datetime(text) if "T" in text else None
    except ValueError:
        return None
    return moment.date() if moment else None
