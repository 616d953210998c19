"""The statements of a letter: the values that each section tells, those that the pack asks for by name, and the paths
of those that are withheld."""

from collections.abc import Iterable, Iterator

from decisions.record.profile import Value
from notices.content_limits import Room, Statement
from notices.drafting.phrases import FieldPhrases
from notices.drafting.redaction import why_withheld
from notices.drafting.sections import Selection
from notices.drafting.sentences import Sentences
from notices.record_paths import MAX_SOURCE, Facts

Statements = dict[str, list[Statement]]


def statements(
    facts: Facts, selection: Selection, sentences: Sentences, phrases: FieldPhrases
) -> tuple[Statements, tuple[str, ...]]:
    """Return the four lists of statements, and the paths of the values withheld from them. Raises TooMuch."""
    room, withheld = Room(), dict[str, None]()

    def write(values: Iterable[Value]) -> Iterator[Statement]:
        for value in values:
            if why_withheld(value, facts, phrases):
                withheld[value.origin.path] = None
            else:
                yield from (item for item in sentences.statements(value) if len(item["source"]) <= MAX_SOURCE)

    sections = {name: room.take(_once(write(values))) for name, values in selection.sections().items()}
    for element, values in selection.requested():
        section = sections[element.where]
        if not any(element.counts(facts.named(item["source"])) for item in section):
            section.extend(room.take(_once(write(values))))
    # A letter tells a value once: as a reason or an answer to the pack, rather than among the information used.
    before = [item for name in sections if name != "inputs_used" for item in sections[name]]
    sections["inputs_used"] = _without_repetitions(sections["inputs_used"], before)
    return sections, tuple(withheld)


def _once(items: Iterable[Statement]) -> Iterator[Statement]:
    """Yield the statements whose sentence is not among those before."""
    seen = set()
    for item in items:
        sentence = item["statement"].casefold()
        if sentence not in seen:
            seen.add(sentence)
            yield item


def _without_repetitions(inputs: list[Statement], before: list[Statement]) -> list[Statement]:
    """Return the inputs whose source or words the letter has not used yet, or all of them if it has used each."""
    known = {text for item in before for text in item.values()}
    return [item for item in inputs if known.isdisjoint(item.values())] or inputs
