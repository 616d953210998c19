"""The one walk through a record: every scalar with its path, and the entry of the mapping that covers it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from custody.sealing.field_paths import segment
from decisions.record.meanings import Entry
from decisions.record.patterns import ANY, Filter, Pattern, Step, general_segment, parse

MAX_FILTERS = 20
EVENT_NAMES = ("name", "event", "type")
"""Keys that name an item of a list `events`. The first that has a text counts."""
MAX_EVENT_NAME = 256
"""Characters: the name is in the general path of every field of the event."""


class Scalar(NamedTuple):
    """A scalar of a record.

    Attributes:
        path: the path that a notice cites, list items by position.
        general: the path of its kind: `*` for a position, and the name of an event for its position.
        parent: the object or list that has it.
        parent_path: the cited path of the parent.
    """

    path: str
    general: str
    value: Any
    parent: Any
    parent_path: str
    entry: Entry | None


class TooManyFilters(ValueError):
    """A mapping has more filters than a record is matched against: each looks at every item of its lists."""


class DuplicatePattern(ValueError):
    """Two entries name the same fields."""


@dataclass(slots=True)
class _Node:
    """The patterns that have the same steps so far.

    Attributes:
        entry: the entry whose pattern ends here.
        deep: the node of `**`, which stays active at any depth below.
    """

    literals: dict[str, "_Node"] = field(default_factory=dict)
    filtered: list[tuple[Filter, "_Node"]] = field(default_factory=list)
    any: "_Node | None" = None
    deep: "_Node | None" = None
    is_deep: bool = False
    entry: Entry | None = None

    def child(self, step: Step) -> "_Node":
        """Return the node after a step, a new one if no pattern has taken the step yet."""
        if step.key is not None:
            return self.literals.setdefault(step.key, _Node())
        if step.filter is None:
            self.any = self.any or _Node()
            return self.any
        known = next((node for condition, node in self.filtered if condition == step.filter), None)
        if known is None:
            known = _Node()
            self.filtered.append((step.filter, known))
        return known

    def below(self) -> "_Node":
        """Return the node of everything below this one."""
        self.deep = self.deep or _Node(is_deep=True)
        return self.deep

    def after(self, key: str | int, name: str | None, chosen: dict[int, set[int]]) -> "Iterator[_Node]":
        """Yield the nodes that match a child, the most specific first.

        Args:
            key, name: the key or position of the child; its key, or the name of an event, or None for a position.
            chosen: the positions that each filter keeps, by the id of the filter.
        """
        if self.is_deep:
            yield self
        if name is not None and name in self.literals:
            yield self.literals[name]
        for condition, node in self.filtered:
            if key in chosen.get(id(condition), ()):
                yield node
        if self.any:
            yield self.any
        if self.deep:
            yield self.deep


class Table:
    """The entries of a mapping, ready to be matched in one walk.

    Of several that match a field, the most specific counts. The first step in which they differ decides: a key comes
    before a filter, a filter before `*`, and `*` before `**`. Between two filters, the earlier entry counts.

    Attributes:
        meanings: the meanings of the entries.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        """Raises DuplicatePattern, TooManyFilters."""
        self._root = _Node()
        patterns = [(parse(entry.path), entry) for entry in entries]
        self.meanings: frozenset[str] = frozenset(entry.means for _, entry in patterns)
        filters = {step.filter for pattern, _ in patterns for step in pattern.steps if step.filter}
        if len(filters) > MAX_FILTERS:
            raise TooManyFilters(f"a mapping has at most {MAX_FILTERS} different filters")
        for pattern, entry in patterns:
            self._add(pattern, entry)

    def walk(self, record: dict[str, Any]) -> Iterator[Scalar]:
        """Yield every scalar of a record in its order, each with its entry."""
        yield from _walk(record, "", "", [self._root], is_events=False)

    def _add(self, pattern: Pattern, entry: Entry) -> None:
        node = self._root
        for step in pattern.steps:
            node = node.child(step)
        node = node.below() if pattern.is_deep else node
        if node.entry:
            raise DuplicatePattern(f"two entries have the path {pattern.text}")
        node.entry = entry


def _walk(container: Any, path: str, general: str, active: list[_Node], *, is_events: bool) -> Iterator[Scalar]:
    """Yield the scalars below an object or list. `active` are the nodes that match it, the most specific first."""
    is_list = isinstance(container, list)
    chosen = {id(rule): rule.positions(container) for node in active for rule, _ in node.filtered} if is_list else {}
    for key, value in enumerate(container) if is_list else container.items():
        name = key if isinstance(key, str) else _event_name(value) if is_events else None
        step, kind = segment(key), ANY if name is None else general_segment(name)
        matching = [child for node in active for child in node.after(key, name, chosen)]
        child_path, child_general = (f"{path}.{step}", f"{general}.{kind}") if path else (step, kind)
        if isinstance(value, dict | list):
            yield from _walk(value, child_path, child_general, matching, is_events=not path and key == "events")
        else:
            entry = next((node.entry for node in matching if node.entry), None)
            yield Scalar(child_path, child_general, value, container, path, entry)


def _event_name(item: Any) -> str | None:
    names = (item.get(key) for key in EVENT_NAMES) if isinstance(item, dict) else ()
    fitting = (name for name in names if isinstance(name, str) and name.strip() and len(name) <= MAX_EVENT_NAME)
    return next(fitting, None)
