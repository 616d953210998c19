"""Drafting: the same record, pack, language and phrasebook always give the same content, and no model is asked.

A statement is one sentence with one source that resolves in the record. What the record does not say is not said.
"""

from collections.abc import Mapping
from typing import Any

from notices.drafting.writer import Statement, Writer
from notices.facts import Facts
from notices.packs import Pack, fill
from notices.phrasebook import Phrasebook
from notices.wording import wording

__all__ = ["Statement", "draft"]


def draft(
    facts: Facts,
    pack: Pack,
    language: str,
    phrasebook: Phrasebook,
    placeholders: Mapping[str, str],
) -> dict[str, Any]:
    """The twelve content fields of a notice, as the contract names them.

    Args:
        placeholders: the organization's names and addresses, for the pack's texts. One that is missing stays in braces,
            where the checklist finds it.
    """
    text = pack.text(language)
    writer = Writer(facts, wording(language), phrasebook)
    review = _review_available(facts, pack)
    statements: dict[str, list[Statement]] = {
        "decision_summary": list(writer.summary()),
        "role_of_automated_system": list(writer.role()),
        "main_factors": list(writer.factors()),
        "inputs_used": list(writer.inputs()),
    }

    def filled(told: str) -> str:
        return fill(told, placeholders).text

    for element in pack.elements:
        if element.paths and element.check == "cited" and element.applies_to(facts.get):
            told = statements[element.where]
            if not any(element.counts(item["source"]) for item in told):
                told.extend(writer.asked(element.paths))

    rights = [*text.rights, *pack.locked_texts(language, facts.get), *([text.withheld] if writer.withheld else [])]
    return {
        "title": filled(text.title),
        **statements,
        "how_to_request_inputs": filled(text.how_to_request_inputs),
        "rights": [filled(right) for right in rights],
        "human_review_available": review,
        "how_to_request_review": filled(text.how_to_request_review if review else text.no_review),
        "deadline_note": filled(text.deadline_note),
        "framework": text.framework,
        "language": language,
    }


def _review_available(facts: Facts, pack: Pack) -> bool:
    """Where the law gives a review, there is one; elsewhere the record has to say so."""
    if facts.get("outcome.review.not_commercially_reasonable"):
        return False
    return pack.human_review == "required" or facts.get("outcome.review.available") is True
