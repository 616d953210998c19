"""The parts of a record that its letters withhold: what the mapping or the phrasebook withholds, numbers of accounts
and people, and what the law forbids to decide by."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain

from decisions.record.profile import Value
from notices.drafting.phrases import FieldPhrases, Withholding
from notices.drafting.sections import Selection
from notices.packs import Pack
from notices.phrasebook import MAX_KEY, Phrasebook
from notices.record_paths import Fact, Facts, NoSuchField

_PARTS = ("code", "text", "factor", "value", "path")


@dataclass(frozen=True, slots=True)
class Redaction:
    """The withheld parts of one record.

    Attributes:
        leaves_out: whether a letter says less than the record because of it, and has to say so.
    """

    leaves_out: bool
    _phrases: FieldPhrases
    _facts: Facts

    @property
    def phrasebook(self) -> Phrasebook:
        """The phrasebook that it depends on."""
        return self._phrases.phrasebook

    def covers(self, fact: Fact) -> bool:
        """Whether a field is withheld."""
        return self.why(fact) is not None

    def why(self, fact: Fact) -> Withholding | None:
        """Return why a field is withheld, or None."""
        return self._phrases.why_withheld(fact)

    def reasons(self) -> Iterator[tuple[Fact, Withholding]]:
        """Yield the reasons and factors that are withheld, each with the cause."""
        seen = set()
        for value in self._facts.profile.values:
            if value.origin.meaning in ("reason", "factor"):
                item = self._facts.signed_fact(value.origin.path).item
                if item.path not in seen and (why := why_withheld(value, self._facts, self._phrases)):
                    seen.add(item.path)
                    yield item, why


def redaction_of(facts: Facts, pack: Pack, phrasebook: Phrasebook) -> Redaction:
    """Return what letters about a record withhold today, without drafting one."""
    return redaction_by(Selection(facts, pack, lambda value: True), facts, FieldPhrases(phrasebook, pack.bases))


def redaction_by(selection: Selection, facts: Facts, phrases: FieldPhrases) -> Redaction:
    """Return what letters withhold of the selected values."""
    sections = selection.sections()
    selected = [*chain.from_iterable(sections.values())]
    for element, values in selection.requested():
        cited = (facts.named(value.origin.path) for value in sections[element.where])
        if not any(map(element.counts, cited)):
            selected += values
    return Redaction(any(why_withheld(value, facts, phrases) for value in selected), phrases, facts)


def why_withheld(value: Value, facts: Facts, phrases: FieldPhrases) -> Withholding | None:
    """Return why letters withhold a value, or None. A reason or factor is withheld with each field of its object, and
    with the field that it names."""
    path = value.origin.path
    cited = [facts.signed_fact(path)]
    if value.origin.meaning in ("reason", "factor"):
        cited += _beside(path, facts)
    causes = (phrases.why_withheld(fact) for fact in cited)
    if why := next(filter(None, causes), None):
        return why
    names = [fact.value for fact in cited if _is_name(fact, value.origin.meaning)]
    return next(filter(None, map(phrases.why_withheld_named, names)), None)


def _is_name(fact: Fact, meaning: str) -> bool:
    """Whether a field names a reason or factor: a factor's name, or a code. A reason in words is no name."""
    if meaning not in ("reason", "factor") or not isinstance(fact.value, str) or len(fact.value) > MAX_KEY:
        return False
    return fact.name in ("code", "factor") or (meaning == "factor" and fact.in_list) or " " not in fact.value.strip()


def _beside(path: str, facts: Facts) -> Iterator[Fact]:
    """Yield the fields in the object of a reason or factor, and the field whose path it has."""
    stem, _, key = path.rpartition(".")
    for name in _PARTS if key in _PARTS else ():
        with suppress(NoSuchField):
            fact = facts.signed_fact(f"{stem}.{name}")
            yield fact
            if name == "path" and isinstance(fact.value, str):
                yield facts.signed_fact(fact.value)
