"""How a person asks for a review: where the record says it, the letter says that, and no second way beside it."""

from collections.abc import Mapping
from itertools import product
from typing import Final

from notices.drafting.phrases import FieldPhrases
from notices.localization.sentences import finish_sentence, isolate, one_line, split_sentences
from notices.packs import fill
from notices.record_paths import Facts, NoSuchField

_ABOUT: Final = ("outcome.review", "outcome.appeal")
_HOW: Final = ("how", "how_to_request", "how_to_ask", "how_to_request_review", "how_to_appeal", "instructions")
_TO_WHOM: Final = ("contact", "address", "email", "send_to")
_CONTACT: Final = "contact"


def how_to_request(facts: Facts, phrases: FieldPhrases, template: str, values: Mapping[str, str]) -> str:
    """The pack's text, with the record's own sentence in the place of the one about whom to write to, or with the
    record's address in it.

    Args:
        values: what placeholders are filled from.
    """
    if how := _told(facts, phrases, _HOW):
        sentences = split_sentences(template)
        filled = (
            finish_sentence(isolate(how)) if f"{{{_CONTACT}}}" in sentence else fill(sentence, values)
            for sentence in sentences
        )
        return " ".join(filled)
    to_whom = _told(facts, phrases, _TO_WHOM)
    return fill(template, {**values, _CONTACT: isolate(to_whom)} if to_whom else values)


def _told(facts: Facts, phrases: FieldPhrases, names: tuple[str, ...]) -> str:
    """The first text in one of these fields that is not withheld, "" if there is none."""
    for about, name in product(_ABOUT, names):
        try:
            fact = facts.at(f"{about}.{name}")
        except NoSuchField:
            continue
        text = one_line(fact.value) if isinstance(fact.value, str) else ""
        if text and set(text).isdisjoint("{}") and not phrases.withhold(fact):
            return text
    return ""
