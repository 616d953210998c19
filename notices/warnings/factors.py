"""Principal factors of a decision that its reasons leave out, under laws that want all of them told."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.localization import humanise
from notices.localization.names import LONGEST
from notices.record_paths import NoSuchField
from notices.warnings.findings import Finding, statements
from notices.wording.reasons import telling_words

_FACTORS = "outcome.principal_factors"
_FOR = ("for", "positive", "favourable", "favorable", "increased", "increase", "raised")
_MOST = 100


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    listed = case.facts.get(_FACTORS)
    # Where reasons are to be few, drafts give them and not the factors that they rest on.
    few = any(each.check == "max_items" and each.where == "main_factors" for each in case.pack.elements)
    if not few or not isinstance(listed, list) or not content.get("main_factors"):
        return
    told = list(statements(content, "main_factors"))
    sources = {each.source for each in told}
    words = {word for each in told for word in telling_words(each.text)}
    for index, factor in enumerate(listed[:_MOST]):
        name, path = _name_and_path(factor)
        if not name or _is_told(case, f"{_FACTORS}.{index}", path, sources):
            continue
        if words.isdisjoint(telling_words(name)):
            yield Finding(
                "factor_left_out",
                "main_factors",
                f"No reason seems to be about “{name}”, a principal factor of the record ({_FACTORS}.{index}). None "
                "may be left out, also where there are more than four "
                "(12 CFR Part 1002, Supplement I, comments 9(b)(2)-1 and -4).",
            )


def _name_and_path(factor: Any) -> tuple[str, str]:
    """What a factor against the person is called, and the field that it is about; nothing of one in their favour."""
    if isinstance(factor, str):
        return factor[:LONGEST], ""
    if not isinstance(factor, dict) or str(factor.get("direction")).lower() in _FOR:
        return "", ""
    name, path = factor.get("factor"), factor.get("path")
    return humanise(name[:LONGEST]) if isinstance(name, str) else "", path if isinstance(path, str) else ""


def _is_told(case: Case, own: str, path: str, sources: set[str]) -> bool:
    try:
        cited = case.facts.at(path).path if path else ""
    except NoSuchField:
        cited = ""
    return cited in sources or any(f"{source}.".startswith(f"{own}.") for source in sources)
