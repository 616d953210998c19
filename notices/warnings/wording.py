"""Sentences that are not made for people: with markup or an unfilled template of another program, or much too long."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.readability import longest_sentence
from notices.warnings.findings import Finding, statements

_MOST_WORDS = 40
_LONGEST = 60
_IN_PROSE = ("decision_summary", "role_of_automated_system", "main_factors")
"""Information used is listed as the record has it, an applicant's own long letter too."""
_TAG = (
    r"</?(?:a|b|body|br|code|div|em|font|h[1-6]|hr|html|i|img|li|ol|p|pre|script|small|span|strong|style|sub|sup|table"
    r"|t[dhr]|u|ul)(?:\s+[a-z-]{1,30}=[^<>]{0,200})?\s?/?>"
)
_ENTITY = r"&(?:[a-z]{2,8}|#\d{1,6}|#x[0-9a-f]{1,5});"
_LINK = r"\[[^\[\]]{1,200}\]\([^()\s]{1,200}\)"
_EMPHASIS = r"\*\*[^\s*][^*]{0,200}\*\*"
_TEMPLATE = r"\{\{[^{}]{0,100}\}\}|\$?\{\w{1,64}\}|\{%[^{}]{0,100}%\}|<%[^<>]{0,100}%>|%\(\w{1,64}\)s"
_MADE_FOR_PROGRAMS = re.compile("|".join((_TAG, _ENTITY, _LINK, _EMPHASIS, _TEMPLATE)), re.IGNORECASE)


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for statement in statements(content):
        if found := _MADE_FOR_PROGRAMS.search(statement.text):
            yield statement.finding(
                "markup",
                f"“{found[0][:_LONGEST]}” in {statement.name} is printed as it stands: it looks like markup, or a "
                "placeholder that nobody filled.",
            )
    for statement in statements(content, *_IN_PROSE):
        if (length := longest_sentence(statement.text)) > _MOST_WORDS:
            yield statement.finding(
                "long_sentence", f"A sentence of {length} words is hard to read: {statement.name}. Split it."
            )
