"""A directive binds through the law of each country, which is not in the pack."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.warnings.findings import Finding

_PATH = "subject.jurisdiction"
_COUNTRY = re.compile(r"([A-Za-z]{2})(?:[-_ ].*)?", re.DOTALL)
_SPELLINGS = {"EL": "GR", "UK": "GB"}


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    laws, pack = case.pack.scope.national_law, case.pack.short_name
    if not laws:
        return
    country = country_of(case.facts.get(_PATH))
    known = laws.get(country)
    if not country:
        told = f"The record names no country in {_PATH}, such as DE: find out which law applies, and check by that one."
    elif known is None:
        told = f"{country} ({_PATH}) is no country of the European Union: check that this law is the right one."
    elif known:
        told = f"In {country} that is {known}: check the letter by it."
    else:
        told = f"That of {country} was not read for this pack: check the letter by it."
    sentence = f"{pack} rests on a directive, which binds through the law of each country. {told}"
    yield Finding("national_law", "framework", sentence)


def country_of(jurisdiction: Any) -> str:
    """The country's code (ISO 3166-1) in `DE`, `de-BY` or `FR_75`; "" where there is none."""
    is_short = isinstance(jurisdiction, str) and len(jurisdiction) < 64
    match = _COUNTRY.fullmatch(jurisdiction.strip()) if is_short else None
    code = match[1].upper() if match else ""
    return _SPELLINGS.get(code, code)
