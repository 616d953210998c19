"""Two places of a record that cannot both be right, or a record and its letter: the letter tells only one of them."""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from decisions.record import outcomes
from notices.checklist import Case
from notices.record_paths import Fact, Facts, NoSuchField
from notices.warnings.findings import Finding, statements
from notices.wording.amounts import Amount, AmountMention, is_readable, place_of
from notices.wording.contents import Contents

_ACTION, _RESULT = outcomes.PATHS
_REVIEW = "outcome.review.available"
_ALSO_SAID = frozenset({"decision", "determination", "disposition", "final_decision", "state", "status", "verdict"})
"""Fields of an outcome that say what was decided, beside its action."""
_GIVEN = ("approved", "conditionally_approved", "partially_approved")
_NUMBER = re.compile(r"-?\d{1,30}(?:\.\d{1,30})?")


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    if others := list(_opposites(case.facts)):
        fault = f"{_ACTION} and {' and '.join(others)} contradict each other"
        yield Finding("contradiction", "decision_summary", _sentence(fault))
    told = {statement.source: statement for statement in statements(content, "main_factors")}
    for factor, path in _factors(case.facts):
        sentence = _sentence(f"{factor} and {path}, which it names, have different values")
        statement = told.get(f"{factor}.value")
        yield (
            statement.finding("contradiction", sentence)
            if statement
            else Finding("contradiction", "main_factors", sentence)
        )
    available, offered = case.facts.get(_REVIEW), content["human_review_available"]
    if isinstance(available, bool) and available is not offered:
        letter = "this letter offers a review" if offered else "this letter offers no review"
        sentence = _sentence(f"{_REVIEW} is {str(available).lower()}, and {letter}")
        yield Finding("contradiction", "how_to_request_review", sentence)


def _sentence(fault: str) -> str:
    return f"In the record, {fault}: find out which holds, and make sure that the letter says so."


def _opposites(facts: Facts) -> Iterator[str]:
    """The paths of fields that say the opposite of what was decided."""
    said = outcomes.kind(facts.get(_ACTION))
    for fact in _children(facts, "outcome"):
        is_said = outcomes.spelling(fact.name) in _ALSO_SAID
        # What came of a review is another thing than what was decided before.
        is_said = is_said or (fact.path == _RESULT and not facts.get("reconsiders.decision_id"))
        if is_said and _opposite(said, outcomes.kind(fact.value)):
            yield fact.path


def _opposite(one: Any, other: Any) -> bool:
    return (one == "denied" and other in _GIVEN) or (other == "denied" and one in _GIVEN)


def _factors(facts: Facts) -> Iterator[tuple[str, str]]:
    """The paths of factors that have another value than the field that they name, and of that field."""
    factors = facts.get("outcome.principal_factors")
    path = "outcome.principal_factors"
    for factor in _children(facts, path) if isinstance(factors, list) else [facts.at(path)] if factors else []:
        named = factor.value.get("path") if isinstance(factor.value, dict) else None
        if not isinstance(named, str):
            continue
        try:
            cited = facts.find(named)
        except NoSuchField:
            continue
        if _differ(factor.value.get("value"), cited.value):
            yield factor.path, cited.path


def _differ(own: Any, cited: Any) -> bool:
    """Whether two values are plainly not the same: numbers, even where one is rounded or a percentage, or flags."""
    if isinstance(own, bool) and isinstance(cited, bool):
        return own is not cited
    one, other = _number(own), _number(cited)
    if one is None or other is None:
        return False
    contents = Contents()
    contents.add_number(other, "")
    amounts = [Amount(one, place_of(one), unit) for unit in ("", "percent")]
    return not contents.has_amount(AmountMention(str(one), tuple(amounts), str(one)))


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()):
        return None
    number = Decimal(value.strip() if isinstance(value, str) else value)
    return number if is_readable(number) else None


def _children(facts: Facts, path: str) -> Iterator[Fact]:
    """What an object or list holds, if it is one."""
    try:
        found = facts.at(path)
    except NoSuchField:
        return
    if not found.is_scalar:
        yield from found.children()
