"""Conditions of elements, clocks and locked texts: `if record outcome.score and not record outcome.incomplete`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from decisions.record import outcomes
from notices import kinds, shapes
from notices.packs import automation, flags

ALWAYS: Final = "always"
ON_REQUEST: Final = "on_request"
NOTICE_FACTS: Final = ("human_review_available",)
Scalar = str | int | Decimal | bool | None

_CONDITION = re.compile(
    r"(?P<negated>not )?(?P<subject>record|notice|decision) "
    r"(?P<path>[^\s\"]+(?:\"[^\"]*\"[^\s\"]*)*)(?: is (?P<value>.+))?"
)


class InvalidCondition(ValueError):
    """The text is no valid condition."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact that must hold.

    Without values, a fact holds if it is present and not null, false or empty. Zero counts as present; a flag with a
    value other than true or false does not. With values, the fact must equal one of these JSON scalars; `true` is not
    1. Texts match in any spelling: `Pre-Service` is `pre_service`. An outcome equals every word of its kind, and so do
    the words in `notices/kinds.toml`. Of several paths, the first with a value in the record counts.
    """

    subject: str
    """`record`: a path into the decision record. `notice`: a fact of the notice. `decision`: a fact that `automation`
    derives from the record."""
    paths: tuple[str, ...]
    negated: bool = False
    values: tuple[Scalar, ...] = ()
    """The allowed values; empty if the fact only has to be present."""

    def holds(self, record: Callable[[str], Any], notice: Mapping[str, Any]) -> bool:
        if self.subject == "decision":
            return automation.FACTS[self.paths[0]](record) is not self.negated
        if self.subject == "notice":
            return self._fits(self.paths[0], notice.get(self.paths[0])) is not self.negated
        fields = [(path, kinds.value(path, record)) for path in self.paths]
        path, value = next((field for field in fields if not _is_empty(field[1])), fields[0])
        return self._fits(path, value) is not self.negated

    def _fits(self, path: str, recorded: Any) -> bool:
        if path in flags.FLAGS and not flags.is_readable(path, recorded):
            return False
        if not self.values:
            return recorded is not False and not _is_empty(recorded)
        if path in outcomes.PATHS:
            return any(outcomes.kind(recorded) == outcomes.kind(value) for value in self.values)
        return any(_are_equal(recorded, value) for value in self.values)


def _are_equal(recorded: Any, value: Scalar) -> bool:
    if isinstance(recorded, str) and isinstance(value, str):
        return outcomes.spelling(recorded) == outcomes.spelling(value)
    return bool(recorded == value) and isinstance(recorded, bool) == isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Applicability:
    """A rule for when a part of a pack applies: always, on the person's request, if every condition holds, or both."""

    expression: str
    conditions: tuple[Condition, ...] = ()

    @property
    def on_request(self) -> bool:
        return self.expression.partition(" ")[0] == ON_REQUEST

    @property
    def record_paths(self) -> tuple[str, ...]:
        return tuple(path for condition in self.conditions if condition.subject == "record" for path in condition.paths)

    def holds(
        self, record: Callable[[str], Any], notice: Mapping[str, Any] | None = None, *, requested: bool = False
    ) -> bool:
        """Whether the rule applies.

        Args:
            record: returns the value at a path of the decision record, or None.
            notice: facts of the notice (`human_review_available`).
            requested: whether the person made the request that `on_request` needs.
        """
        if self.on_request and not requested:
            return False
        return all(condition.holds(record, notice or {}) for condition in self.conditions)


def parse(expression: str) -> Applicability:
    """Read `always`, `on_request`, `if …` or `on_request if …`.

    Raises:
        InvalidCondition: with a sentence that says what is wrong.
    """
    if expression in (ALWAYS, ON_REQUEST):
        return Applicability(expression)
    facts = expression.removeprefix(f"{ON_REQUEST} ")
    if not facts.startswith("if "):
        raise InvalidCondition(f"{expression!r} is neither 'always', 'on_request' nor 'if …'")
    return Applicability(expression, tuple(_condition(part) for part in facts.removeprefix("if ").split(" and ")))


def _condition(expression: str) -> Condition:
    match = _CONDITION.fullmatch(expression)
    if not match:
        raise InvalidCondition(f"{expression!r} is not of the form '[not] record <path> [is <JSON scalar>]'")
    if match["subject"] == "notice" and match["path"] not in NOTICE_FACTS:
        raise InvalidCondition(f"a notice has no fact {match['path']!r}, only {', '.join(NOTICE_FACTS)}")
    if match["subject"] == "decision" and (match["path"] not in automation.FACTS or match["value"] is not None):
        raise InvalidCondition(f"of a decision can be asked, without 'is', whether it is {', '.join(automation.FACTS)}")
    paths = tuple(match["path"].split("|"))
    if "" in paths:
        raise InvalidCondition(f"{match['path']!r} has a path that is empty")
    for path in paths:
        if path.startswith(shapes.PREFIX) and path.removeprefix(shapes.PREFIX) not in shapes.NAMES:
            raise InvalidCondition(f"nothing is called {path!r}, only {', '.join(sorted(shapes.NAMES))}")
    return Condition(
        subject=match["subject"],
        paths=paths,
        negated=bool(match["negated"]),
        values=tuple(map(_scalar, match["value"].split("|"))) if match["value"] else (),
    )


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {}, ())


def _scalar(expression: str) -> Scalar:
    try:
        value: Scalar = json.loads(expression, parse_float=Decimal)
    except ValueError:
        raise InvalidCondition(f"{expression!r} is no JSON scalar; texts stand in double quotes") from None
    if isinstance(value, (dict, list)):
        raise InvalidCondition(f"{expression!r} is no JSON scalar")
    return value
