"""When an element, a clock or a locked text applies: `if record outcome.score and not record outcome.incomplete`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

ALWAYS: Final = "always"
ON_REQUEST: Final = "on_request"
NOTICE_FACTS: Final = ("human_review_available",)

_CONDITION = re.compile(
    r"(?P<negated>not )?(?P<subject>record|notice) (?P<path>[^\s\"]+(?:\"[^\"]*\"[^\s\"]*)*)(?: is (?P<value>.+))?"
)


class InvalidCondition(ValueError):
    """The text does not say when something applies."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact that must hold.

    Without a value, a fact holds when it is there and says something: neither null nor false, and not empty. Zero says
    something. With a value, it holds when it equals that JSON scalar; `true` is not 1.
    """

    subject: str
    """`record`: a path into the decision record. `notice`: a fact of the notice."""
    path: str
    negated: bool = False
    compared: bool = False
    value: str | int | Decimal | bool | None = None

    def holds(self, record: Callable[[str], Any], notice: Mapping[str, Any]) -> bool:
        found = record(self.path) if self.subject == "record" else notice.get(self.path)
        return self._fits(found) is not self.negated

    def _fits(self, found: Any) -> bool:
        if not self.compared:
            return found is not None and found is not False and found not in ("", [], {}, ())
        return found == self.value and isinstance(found, bool) == isinstance(self.value, bool)


@dataclass(frozen=True, slots=True)
class Applicability:
    """When something applies: always, only when the person asked for it, or when every condition holds."""

    expression: str
    conditions: tuple[Condition, ...] = ()

    @property
    def on_request(self) -> bool:
        return self.expression == ON_REQUEST

    @property
    def record_paths(self) -> tuple[str, ...]:
        return tuple(condition.path for condition in self.conditions if condition.subject == "record")

    def holds(
        self, record: Callable[[str], Any], notice: Mapping[str, Any] | None = None, *, requested: bool = False
    ) -> bool:
        """Tell whether it applies.

        Args:
            record: gives the value at a path of the decision record, None where there is nothing.
            notice: facts of the notice (`human_review_available`).
            requested: the person has asked for what is given only on request.
        """
        if self.on_request:
            return requested
        return all(condition.holds(record, notice or {}) for condition in self.conditions)


def parse(expression: str) -> Applicability:
    """Read `always`, `on_request` or `if …`.

    Raises:
        InvalidCondition: with a sentence saying what is wrong.
    """
    if expression in (ALWAYS, ON_REQUEST):
        return Applicability(expression)
    if not expression.startswith("if "):
        raise InvalidCondition(f"{expression!r} is neither 'always', 'on_request' nor 'if …'")
    return Applicability(expression, tuple(_condition(part) for part in expression.removeprefix("if ").split(" and ")))


def _condition(expression: str) -> Condition:
    found = _CONDITION.fullmatch(expression)
    if not found:
        raise InvalidCondition(f"{expression!r} is not of the form '[not] record <path> [is <JSON scalar>]'")
    if found["subject"] == "notice" and found["path"] not in NOTICE_FACTS:
        raise InvalidCondition(f"a notice has no fact {found['path']!r}, only {', '.join(NOTICE_FACTS)}")
    return Condition(
        subject=found["subject"],
        path=found["path"],
        negated=bool(found["negated"]),
        compared=found["value"] is not None,
        value=_scalar(found["value"]),
    )


def _scalar(expression: str | None) -> str | int | Decimal | bool | None:
    if expression is None:
        return None
    try:
        value: str | int | Decimal | bool | None = json.loads(expression, parse_float=Decimal)
    except ValueError:
        raise InvalidCondition(f"{expression!r} is no JSON scalar; texts stand in double quotes") from None
    if isinstance(value, (dict, list)):
        raise InvalidCondition(f"{expression!r} is no JSON scalar")
    return value
