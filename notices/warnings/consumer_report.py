"""What the FCRA wants told of a consumer report and of a score: whether there was one, and the key factors in order."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from notices.checklist import Case
from notices.warnings.findings import Finding, statements

_USED, _SHOWN, _FACTORS = "outcome.consumer_report_used", "found.consumer_report", "outcome.key_factors"
_RANKS, _WEIGHTS = ("rank", "order", "position"), ("importance", "weight", "impact", "points")


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    if _USED not in case.pack.record_paths or case.facts.get("found.no_adverse_action"):
        return
    if any(_SHOWN in locked.when.record_paths for locked in case.pack.locked):
        yield from _about_use(case)
    if any(element.counts(_FACTORS) and element.paths for element in case.pack.elements):
        yield from _about_factors(case, content)


def _about_use(case: Case) -> Iterator[Finding]:
    used, shown_by = case.facts.get(_USED), case.facts.get(_SHOWN)
    if shown_by and used is None:
        yield Finding(
            "consumer_report_assumed",
            "rights",
            f"The record does not say whether a consumer report was used. It has {shown_by}, so the letter tells the "
            f"person about one (15 U.S.C. 1681m(a)). Check that; a record says it in {_USED}.",
        )
    elif shown_by and used is False:
        yield Finding(
            "consumer_report_denied",
            "rights",
            f"The record says in {_USED} that no consumer report was used, and has {shown_by}. If the decision rests "
            "on it in any part, the person has to be told (15 U.S.C. 1681m(a)).",
        )


def _about_factors(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    listed = case.facts.get(_FACTORS)
    if not isinstance(listed, list):
        return
    order = [str(index) for index in sorted(range(len(listed)), key=lambda index: _importance(listed[index], index))]
    sources = (
        item.source.removeprefix(f"{_FACTORS}.").partition(".")[0] for item in statements(content, "inputs_used")
    )
    known, told = set(order), dict.fromkeys(sources)
    told_in_order = [index for index in told if index in known]
    if told_in_order != [index for index in order if index in told]:
        yield Finding(
            "key_factor_order",
            "inputs_used",
            "The key factors of the score stand in another order than that of their importance, in which the person "
            "has to be told of them (15 U.S.C. 1681g(f)(1)(C)).",
            tuple(told_in_order),
        )


def _importance(factor: Any, index: int) -> tuple[Decimal, int]:
    """What comes first, by a rank or a weight that the record gives; else as the record lists them."""
    about = factor if isinstance(factor, dict) else {}
    for names, sign in ((_RANKS, 1), (_WEIGHTS, -1)):
        for name in names:
            value = about.get(name)
            if isinstance(value, int | Decimal) and not isinstance(value, bool):
                return (Decimal(value) if sign > 0 else -abs(Decimal(value))), index
    return Decimal(0), index
