"""Who decided: records that contradict themselves, records that do not say it, and laws that are about others."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.packs import automation
from notices.packs.provisions import Caution
from notices.warnings.findings import Finding

_WHERE = "role_of_automated_system"


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    record = case.facts.get
    if told := automation.contradictions(record):
        at_odds = f"{told[0]}, but {' and '.join(told[1:])}"
        yield Finding("contradiction", _WHERE, f"The record contradicts itself about who decided: {at_odds}.")
        return  # what follows from it is open
    match case.pack.scope.automation:
        case "solely" if not automation.is_automated(record):
            yield from _not_automated(case, content)
        case "involved" if not automation.is_assisted(record):
            yield Finding(
                "not_automated",
                "framework",
                f"{case.pack.short_name} is about decisions that a system had a part in, and the record tells of no "
                "system. Check that this law is the right one.",
            )


def _is_about_people(caution: Caution) -> bool:
    return any(automation.INVOLVEMENT in condition.paths for condition in caution.when.conditions)


def _not_automated(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    """A person decided. Whether they did more than follow the system is theirs to say, and nothing is assumed."""
    record = case.facts.get
    if (flag := case.pack.scope.human_counts) and record(flag) is False:
        return  # a person, and none that this law takes for one who decided
    if not automation.is_said(record):
        if any(_is_about_people(caution) and caution.applies_to(record, content) for caution in case.pack.cautions):
            return  # its own law says what to look at
        following = case.pack.scope.merely_following
        followed = f"does ({following})" if following else "may well"
        yield Finding(
            "who_decided",
            _WHERE,
            f"The record names a person who decided, and has no {automation.SOLELY}. A person who looked at the case "
            f"themselves makes no automated decision. One who only followed the system's result {followed}: if so, "
            "send a record that says it.",
        )
    elif not automation.reconsiders(record):
        cited = "The draft does not cite that law and leaves its rights out. " if case.pack.frameworks else ""
        yield Finding(
            "not_automated",
            "framework",
            f"{case.pack.short_name} is about decisions that a system made alone, and a person made this one, as the "
            f"record says. {cited}Check that no other pack fits better.",
        )
