"""The statements of a notice: what the record says by itself, and what its pack asks for by name."""

from collections.abc import Iterable, Iterator

from notices.drafting.selection import Selection, Topic
from notices.drafting.writer import Writer
from notices.limits import Room, Statement
from notices.record_paths import MOST_SOURCE

Sections = dict[str, list[Statement]]


def statements(selection: Selection, writer: Writer) -> tuple[Sections, tuple[str, ...]]:
    """The four lists of statements, and the paths of what is withheld from them. Raises TooMuch."""
    room, withheld = Room(), dict[str, None]()

    def told(topics: Iterable[Topic]) -> Iterator[Topic]:
        for topic in topics:
            if topic.withheld:
                withheld[topic.fact.path] = None
            else:
                yield topic

    def taken(written: Iterable[Statement]) -> list[Statement]:
        return room.take(item for item in written if len(item["source"]) <= MOST_SOURCE)

    topics = selection.sections()
    found = {
        "decision_summary": taken(writer.write(told(topics["decision_summary"]))),
        "role_of_automated_system": taken(writer.write(told(topics["role_of_automated_system"]))),
        "main_factors": taken(writer.factors(told(topics["main_factors"]))),
        "inputs_used": taken(writer.inputs(told(topics["inputs_used"]))),
    }
    found["inputs_used"] = _unsaid(found["inputs_used"], [*found["decision_summary"], *found["main_factors"]])
    for element, requested in selection.requested():
        section = found[element.where]
        if not any(element.counts(item["source"]) for item in section):
            section.extend(taken(writer.write(told(requested))))
    return found, tuple(withheld)


def _unsaid(inputs: list[Statement], before: list[Statement]) -> list[Statement]:
    """The inputs that the letter has not told yet, by source or in the same words; if it has told all, all again."""
    said = {told for item in before for told in item.values()}
    return [item for item in inputs if said.isdisjoint(item.values())] or inputs
