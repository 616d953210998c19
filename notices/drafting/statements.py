"""The statements of a notice: what the record says by itself, and what its pack asks for by name."""

from collections.abc import Iterable, Iterator

from notices.content_limits import Room, Statement
from notices.drafting.selection import Selection, Topic
from notices.drafting.writer import StatementWriter
from notices.record_paths import MOST_SOURCE

Sections = dict[str, list[Statement]]


def statements(selection: Selection, writer: StatementWriter) -> tuple[Sections, tuple[str, ...]]:
    """The four lists of statements, and the paths of what is withheld from them. Raises TooMuch."""
    room, withheld, chosen = Room(), dict[str, None](), set[str]()

    def printed(topics: Iterable[Topic]) -> Iterator[Topic]:
        for topic in topics:
            chosen.add(topic.fact.path)
            if topic.withheld:
                withheld[topic.fact.path] = None
            else:
                yield topic

    def take(items: Iterable[Statement]) -> list[Statement]:
        return room.take(item for item in items if len(item["source"]) <= MOST_SOURCE)

    topics = selection.sections()
    sections = {
        "decision_summary": take(writer.write(printed(topics["decision_summary"]))),
        "role_of_automated_system": take(writer.write(printed(topics["role_of_automated_system"]))),
        "main_factors": take(writer.write_factors(printed(topics["main_factors"]))),
        "inputs_used": take(writer.write_inputs(printed(topics["inputs_used"]))),
    }
    # The amount that the letter begins with is still one of the things that were used.
    summary = [item for item in sections["decision_summary"] if not item["source"].startswith("events.")]
    before = [*summary, *sections["main_factors"]]
    sections["inputs_used"] = _without_repetitions(sections["inputs_used"], before)
    for element, requested in selection.requested():
        section = sections[element.where]
        if not any(element.counts(selection.named(item["source"])) for item in section):
            found = take(writer.write(printed(requested)))
            section.extend(found)
            if element.where != "inputs_used":
                sections["inputs_used"] = _without_repetitions(sections["inputs_used"], found)
    for name, rest in selection.rest(chosen).items():
        sections[name].extend(take(writer.write(printed(rest))))
    return sections, tuple(withheld)


def _without_repetitions(inputs: list[Statement], before: list[Statement]) -> list[Statement]:
    """The inputs that the letter has not told yet, by source or in the same words; if it has told all, all again."""
    known = {text for item in before for text in item.values()}
    return [item for item in inputs if known.isdisjoint(item.values())] or inputs
