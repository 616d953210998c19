"""When an element, a clock or a locked text applies: `if record outcome.score and not record outcome.incomplete`."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from notices import kinds, outcomes, shapes
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
    """The text does not say when something applies."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One fact that must hold.

    Without a value, a fact holds when it is there and says something: neither null nor false, and not empty. Zero says
    something; a flag that is neither true nor false says nothing. With a value, it holds when it equals that JSON
    scalar, or one of several; `true` is not 1. Texts are compared in any spelling: `Pre-Service` is `pre_service`. An
    outcome equals every word of its kind, and so does what `notices/kinds.toml` has words for. Of several paths counts
    the first at which the record has anything.
    """

    subject: str
    """`record`: a path into the decision record. `notice`: a fact of the notice. `decision`: what `automation` reads
    out of the record."""
    paths: tuple[str, ...]
    negated: bool = False
    values: tuple[Scalar, ...] = ()
    """One of which it must be; none where it only has to be there."""

    def holds(self, record: Callable[[str], Any], notice: Mapping[str, Any]) -> bool:
        if self.subject == "decision":
            return automation.FACTS[self.paths[0]](record) is not self.negated
        if self.subject == "notice":
            return self._fits(self.paths[0], notice.get(self.paths[0])) is not self.negated
        found = [(path, kinds.value(path, record)) for path in self.paths]
        path, value = next((each for each in found if not _is_empty(each[1])), found[0])
        return self._fits(path, value) is not self.negated

    def _fits(self, path: str, found: Any) -> bool:
        if path in flags.FLAGS and not flags.is_readable(path, found):
            return False
        if not self.values:
            return found is not False and not _is_empty(found)
        if path in outcomes.PATHS:
            return any(outcomes.kind(found) == outcomes.kind(value) for value in self.values)
        return any(_are_equal(found, value) for value in self.values)


def _are_equal(found: Any, value: Scalar) -> bool:
    if isinstance(found, str) and isinstance(value, str):
        return outcomes.spelling(found) == outcomes.spelling(value)
    return bool(found == value) and isinstance(found, bool) == isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Applicability:
    """When something applies: always, only when the person asked for it, when every condition holds, or both."""

    expression: str
    conditions: tuple[Condition, ...] = ()

    @property
    def on_request(self) -> bool:
        return self.expression.partition(" ")[0] == ON_REQUEST

    @property
    def record_paths(self) -> tuple[str, ...]:
        return tuple(path for each in self.conditions if each.subject == "record" for path in each.paths)

    def holds(
        self, record: Callable[[str], Any], notice: Mapping[str, Any] | None = None, *, requested: bool = False
    ) -> bool:
        """Tell whether it applies.

        Args:
            record: gives the value at a path of the decision record, None where there is nothing.
            notice: facts of the notice (`human_review_available`).
            requested: the person has asked for what is given only on request.
        """
        if self.on_request and not requested:
            return False
        return all(condition.holds(record, notice or {}) for condition in self.conditions)


def parse(expression: str) -> Applicability:
    """Read `always`, `on_request`, `if …` or `on_request if …`.

    Raises:
        InvalidCondition: with a sentence saying what is wrong.
    """
    if expression in (ALWAYS, ON_REQUEST):
        return Applicability(expression)
    facts = expression.removeprefix(f"{ON_REQUEST} ")
    if not facts.startswith("if "):
        raise InvalidCondition(f"{expression!r} is neither 'always', 'on_request' nor 'if …'")
    return Applicability(expression, tuple(_condition(part) for part in facts.removeprefix("if ").split(" and ")))


def _condition(expression: str) -> Condition:
    found = _CONDITION.fullmatch(expression)
    if not found:
        raise InvalidCondition(f"{expression!r} is not of the form '[not] record <path> [is <JSON scalar>]'")
    if found["subject"] == "notice" and found["path"] not in NOTICE_FACTS:
        raise InvalidCondition(f"a notice has no fact {found['path']!r}, only {', '.join(NOTICE_FACTS)}")
    if found["subject"] == "decision" and (found["path"] not in automation.FACTS or found["value"] is not None):
        raise InvalidCondition(f"of a decision can be asked, without 'is', whether it is {', '.join(automation.FACTS)}")
    paths = tuple(found["path"].split("|"))
    if "" in paths:
        raise InvalidCondition(f"{found['path']!r} has a path that is empty")
    for path in paths:
        if path.startswith(shapes.PREFIX) and path.removeprefix(shapes.PREFIX) not in shapes.NAMES:
            raise InvalidCondition(f"nothing is called {path!r}, only {', '.join(sorted(shapes.NAMES))}")
    return Condition(
        subject=found["subject"],
        paths=paths,
        negated=bool(found["negated"]),
        values=tuple(map(_scalar, found["value"].split("|"))) if found["value"] else (),
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
