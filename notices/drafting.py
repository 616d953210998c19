"""Drafting: the same record, pack, language and phrasebook always give the same content, and no model is asked.

A statement is one sentence with one source that resolves in the record. What the record does not say is not said.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from notices.facts import Fact, Facts, NoSuchField, last_key, scalars
from notices.packs import Pack, fill
from notices.phrasebook import Phrasebook
from notices.wording import Wording, humanise, sentence, wording

Statement = dict[str, str]

_AGAINST = {"against", "negative", "adverse", "decreased", "decrease", "lowered"}
_FOR = {"for", "positive", "favourable", "favorable", "increased", "increase", "raised"}
_SENTENCES = re.compile(r"(?<=[.!?…])\s+(?=\S)")


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
    writer = _Writer(facts, wording(language), phrasebook)
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


class _Writer:
    def __init__(self, facts: Facts, words: Wording, phrasebook: Phrasebook) -> None:
        self.facts, self.words, self.phrasebook = facts, words, phrasebook
        self.withheld = False

    def summary(self) -> Iterator[Statement]:
        yield from self._about("outcome.action", "action", self.words.action)
        for path in ("decided_at", "outcome.effective_date"):
            yield from self._about(path, last_key(path))
        yield from self._reason("outcome.consequences", self.facts.get("outcome.consequences"))

    def role(self) -> Iterator[Statement]:
        for path, template in (
            ("system.name", "system"),
            ("system.version", "system_version"),
            ("system.provider", "system_provider"),
            ("approval.human_involvement", "human_involvement"),
            ("approval.authority", "human_authority"),
        ):
            yield from self._about(path, template, self._plain)
        if self.facts.get("outcome.solely_automated") is True:
            yield {"statement": self.words.say("solely_automated"), "source": "outcome.solely_automated"}

    def factors(self) -> Iterator[Statement]:
        """Reasons first, then factors: what a reader asks is why."""
        yield from self._listed("outcome.reasons", self._reason)
        if not self.facts.get("outcome.reasons"):
            yield from self._listed("outcome.reason_codes", self._reason)
        yield from self._listed("outcome.principal_factors", self._factor)
        yield from self._listed("outcome.what_would_have_changed", self._reason)

    def inputs(self) -> Iterator[Statement]:
        for path, _, fields in self.facts.events():
            for fact in scalars(path, fields):
                statement = self._field(fact)
                if statement:
                    yield statement

    def asked(self, paths: Iterable[str]) -> Iterator[Statement]:
        """What a law asks for by name: each scalar at these paths or below them, where the record has it."""
        for path in paths:
            node = self.facts.get(path)
            found = scalars(path, node) if isinstance(node, dict) else _items(path, node)
            for fact in found:
                statement = self._field(fact)
                if statement:
                    yield statement

    def _about(self, path: str, template: str, show: Any = None) -> Iterator[Statement]:
        """A sentence about one field, if the record has it and it may be printed."""
        try:
            fact = self.facts.find(path)
        except NoSuchField:
            return
        if fact.value in (None, "") or self._withheld(path):
            return
        shown = (show or self.words.value)(fact.value)
        phrase = self.phrasebook.find(path)
        said = phrase.sentence.replace("{value}", shown) if phrase and phrase.sentence else None
        yield {"statement": sentence(said) if said else self.words.say(template, value=shown), "source": fact.path}

    def _plain(self, value: Any) -> str:
        return (
            humanise(value) if isinstance(value, str) and re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", value) else str(value)
        )

    def _listed(self, path: str, write: Any) -> Iterator[Statement]:
        items = self.facts.get(path)
        for index, item in enumerate(items if isinstance(items, list) else []):
            yield from write(f"{path}.{index}", item)

    def _reason(self, path: str, item: Any) -> Iterator[Statement]:
        """A reason is a text, a code, or an object with both; the phrasebook's words for a code come first."""
        code = item.get("code") if isinstance(item, dict) else item
        told = item.get("text") if isinstance(item, dict) else item
        phrase = self.phrasebook.find(str(code)) if isinstance(code, str) else None
        if phrase and phrase.withheld:
            self.withheld = True
            return
        if phrase and phrase.sentence:
            yield {"statement": sentence(phrase.sentence), "source": f"{path}.code" if isinstance(item, dict) else path}
        elif isinstance(told, str) and told.strip():
            source = f"{path}.text" if isinstance(item, dict) else path
            for one in _SENTENCES.split(told if " " in told else humanise(told)):
                yield {"statement": sentence(one), "source": source}

    def _factor(self, path: str, item: Any) -> Iterator[Statement]:
        if not isinstance(item, dict):
            yield from self._reason(path, item)
            return
        name, value = item.get("factor"), item.get("value")
        if not isinstance(name, str) or isinstance(value, dict | list) or value is None:
            return
        cited = item.get("path")
        source = self._resolving(cited, value) or f"{path}.value"
        if self._withheld(source, name):
            return
        direction = str(item.get("direction", "")).lower()
        template = "factor_against" if direction in _AGAINST else "factor_for" if direction in _FOR else "factor"
        label = self._label(name, source)
        yield {"statement": self.words.say(template, label=label, value=self.words.value(value)), "source": source}

    def _resolving(self, path: Any, value: Any) -> str | None:
        """A factor's own path into the events, if the value there is the factor's."""
        try:
            fact = self.facts.find(path) if isinstance(path, str) else None
        except NoSuchField:
            return None
        return fact.path if fact and fact.value == value else None

    def _field(self, fact: Fact) -> Statement | None:
        if fact.value in (None, "") or self._withheld(fact.path, last_key(fact.path)):
            return None
        label = self._label(last_key(fact.path), fact.path)
        phrase = self.phrasebook.find(fact.path, last_key(fact.path))
        value = self.words.value(fact.value)
        if phrase and phrase.sentence:
            said = sentence(phrase.sentence.replace("{value}", value))
        elif isinstance(fact.value, bool):
            said = self.words.say("flag_true" if fact.value else "flag_false", label=label)
        else:
            said = self.words.say("field", label=label, value=value)
        return {"statement": said, "source": fact.path}

    def _label(self, name: str, path: str) -> str:
        phrase = self.phrasebook.find(path, name)
        return phrase.label if phrase and phrase.label else humanise(name)

    def _withheld(self, *keys: str) -> bool:
        phrase = self.phrasebook.find(*keys)
        withheld = bool(phrase and phrase.withheld)
        self.withheld = self.withheld or withheld
        return withheld


def _items(path: str, node: Any) -> list[Fact]:
    """A scalar, or the scalars of a list, as facts; nothing for what the record does not have."""
    if isinstance(node, list):
        return [Fact(f"{path}.{n}", item) for n, item in enumerate(node) if not isinstance(item, dict | list)]
    return [] if node is None else [Fact(path, node)]
