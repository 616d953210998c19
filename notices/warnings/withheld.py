"""Reasons and factors that no letter prints: what the law forbids to decide by, and what holds something sensitive."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.localization import MAX_TEXT
from notices.record_paths import MAX_SOURCE, Fact
from notices.sensitive.bases import title_of
from notices.sensitive.values import kinds
from notices.warnings.findings import Finding, statements

_SECTION = "main_factors"
_TERMS = ("condition", "consequence", "missing")
_LONGEST_PATH = 120


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    yield from _left_out(case, content)
    yield from _lost(case)
    yield from _said(case, content)


def _left_out(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    """What the record names as a reason or factor, and no draft prints. Of a sensitive factor it prints the name."""
    told = {statement.source.rpartition(".")[0] for statement in statements(content, _SECTION)}
    for fact, why in case.redaction.reasons():
        if why.by == "prohibited":
            yield _of_record(case, fact.path, why.what, "so it is not printed")
        elif why.by == "sensitive" and fact.path not in told:
            sentence = (
                f"The reason or factor at {_short(fact.path)} is withheld as sensitive ({why.what}). If it counted, "
                "say in words of your own what was decided by, without the value."
            )
            yield Finding("withheld_reason", _SECTION, sentence)


def _lost(case: Case) -> Iterator[Finding]:
    """Find conditions, consequences and terms of an offer that are withheld: the person may have to know of them."""
    for value in case.facts.profile.values:
        if value.origin.meaning not in _TERMS and not value.origin.meaning.startswith("offer."):
            continue
        path = value.origin.path
        why = case.redaction.why(case.facts.signed_fact(path))
        if why is None or why.by not in ("sensitive", "prohibited"):
            continue
        what = "a condition, a term or a part of an offer"
        if why.by == "prohibited":
            yield _of_record(case, path, why.what, "so it is not printed", what)
        else:
            sentence = (
                f"{_short(path)} is {what}, and is withheld as sensitive ({why.what}): if the person has to know "
                "of it, say it in words of your own, without what is private."
            )
            yield Finding("withheld_term", "decision_summary", sentence)


def _said(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    """What the sentences of the letter say, and what reasons of the record say that no sentence cites."""
    cited = set()
    for statement in statements(content):
        cited.add(statement.source)
        for basis in case.pack.bases.told(statement.text[:MAX_TEXT]):
            sentence = (
                f"As it seems, {statement.name} speaks of {title_of(basis)}. {case.pack.citation_of(basis)} forbids to "
                "decide by it: have the decision looked at, unless the sentence is about something else."
            )
            yield statement.finding("prohibited_basis", sentence)
        if any(kinds(statement.text)):
            what = "a secret, or a card, account or national number"
            sentence = f"As it seems, {statement.name} has {what} in it: leave that out."
            yield statement.finding("sensitive_value", sentence)
    for item, facts in _reasons(case).items():
        if cited.isdisjoint(fact.path for fact in facts):
            said = (basis for fact in facts for basis in case.pack.bases.told(str(fact.value)[:MAX_TEXT]))
            for basis in dict.fromkeys(said):
                yield _of_record(case, item, basis, "and the letter does not cite it")


def _reasons(case: Case) -> Mapping[str, list[Fact]]:
    """The texts of the record's reasons and factors that may be printed, by the path of the reason or factor."""
    outcome = case.facts.at("").value.get("outcome")
    left_out = {fact.path for fact, _ in case.redaction.reasons()}
    found: dict[str, list[Fact]] = {}
    for name in outcome if isinstance(outcome, dict) else ():
        if "reason" in name or "factor" in name:
            for fact in case.facts.at("outcome").child(name).scalars():
                if fact.path_length > MAX_SOURCE:  # which cannot be cited
                    continue
                item = fact.item.path
                if isinstance(fact.value, str) and item not in left_out and not case.redaction.covers(fact):
                    found.setdefault(item, []).append(fact)
    return found


def _of_record(case: Case, path: str, basis: str, so: str, kind: str = "a reason or factor") -> Finding:
    sentence = (
        f"The record names {title_of(basis)} as {kind} ({_short(path)}), {so}. "
        f"{case.pack.citation_of(basis)} forbids to decide by it: have the decision looked at before a letter goes out."
    )
    return Finding("prohibited_basis", _SECTION, sentence)


def _short(path: str) -> str:
    return path if len(path) <= _LONGEST_PATH else f"{path[:_LONGEST_PATH]}…"
