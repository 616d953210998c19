"""The statements of a notice: what the record says by itself, and what its pack asks for by name."""

from collections.abc import Iterable

from notices.drafting.writer import Writer
from notices.limits import Room, Statement
from notices.packs import Pack
from notices.record_paths import MOST_SOURCE, Facts


def statements(facts: Facts, pack: Pack, writer: Writer) -> dict[str, list[Statement]]:
    """The four lists of statements, with what the pack asks for by name. Raises TooMuch."""
    # A law that wants few reasons gets the reasons; what they rest on is then among the information used.
    room = Room()

    def taken(written: Iterable[Statement]) -> list[Statement]:
        return room.take(item for item in written if len(item["source"]) <= MOST_SOURCE)

    briefly = any(element.check == "max_items" and element.where == "main_factors" for element in pack.elements)
    summary, factors = taken(writer.summary()), taken(writer.factors(briefly=briefly))
    found = {
        "decision_summary": summary,
        "role_of_automated_system": taken(writer.role()),
        "main_factors": factors,
        "inputs_used": _unsaid(taken(writer.inputs()), [*summary, *factors]),
    }
    for element in pack.elements:
        if element.paths and element.check == "cited" and element.applies_to(facts.get):
            told = found[element.where]
            if not any(element.counts(item["source"]) for item in told):
                told.extend(taken(writer.asked(element.paths)))
    return found


def _unsaid(inputs: list[Statement], before: list[Statement]) -> list[Statement]:
    """The inputs that the letter has not told yet, by source or in the same words; if it has told all, all again."""
    said = {told for item in before for told in item.values()}
    return [item for item in inputs if said.isdisjoint(item.values())] or inputs
