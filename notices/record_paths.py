"""The facts of a record, by the paths that notices cite.

They are those of field proofs, and beside them those by the names of list items, as events have them:
`events.scoring.score` for `events.0.score`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from config.api import strict_json
from custody.record_paths import NoSuchField, key_in, keys, require_short_paths, segment

__all__ = ["MOST_SOURCE", "Fact", "Facts", "NoSuchField", "Scalar"]

MOST_SOURCE = 4096
"""Characters of a path that can be cited."""
Scalar = str | int | Decimal | bool | None


@dataclass(frozen=True, slots=True)
class Fact:
    """What is at one place of a record, and how the place is reached.

    A key stands in the path of everything below it, so a path is put together only where it is asked for.
    """

    step: str
    """The last segment of its path."""
    name: str
    """The last key, unquoted; of a list item its name, or its index if it has none."""
    value: Any
    path_length: int
    """Of its path, in characters."""
    parent: "Fact | None" = None

    @property
    def path(self) -> str:
        """As field proofs name it."""
        return ".".join(fact.step for fact in self.lineage())

    @property
    def named_path(self) -> str:
        """The same place, with the names of list items where they have one."""
        return ".".join(segment(fact.name) if fact.in_list else fact.step for fact in self.lineage())

    def paths(self, longest: int) -> Iterator[str]:
        """`path` and `named_path`, where they have at most so many characters."""
        if self.path_length <= longest:
            yield self.path
        lineage = self.lineage()
        if sum(len(fact.name if fact.in_list else fact.step) for fact in lineage) <= longest:
            yield self.named_path

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value, dict | list)

    @property
    def in_list(self) -> bool:
        return self.parent is not None and isinstance(self.parent.value, list)

    @property
    def field(self) -> "Fact":
        """What has a key: this, or the list that it is an item of."""
        return self.parent.field if self.parent and self.in_list else self

    def lineage(self) -> list["Fact"]:
        """From the top of the record down to this."""
        found, fact = [], self
        while fact.parent:
            found.append(fact)
            fact = fact.parent
        return found[::-1]

    def child(self, key: str | int) -> "Fact":
        """One step down, by a key or index that is there."""
        value = self.value[key]
        name = _item_name(value) or str(key) if isinstance(key, int) else key
        step = segment(key)
        return Fact(step, name, value, self.path_length + len(step) + bool(self.parent), self)

    def children(self) -> Iterator["Fact"]:
        keys = self.value if isinstance(self.value, dict) else range(len(self.value))
        return map(self.child, keys)

    def scalars(self) -> Iterator["Fact"]:
        """Every scalar here or below, in the record's order."""
        if self.is_scalar:
            yield self
            return
        for child in self.children():
            yield from child.scalars()


class Facts:
    """A record to be cited."""

    def __init__(self, payload: bytes) -> None:
        """Raises PathsTooLong for a record that came in before there was a limit."""
        self.document: dict[str, Any] = strict_json.read(payload, number=Decimal)
        require_short_paths(payload, self.document)
        self._positions: dict[int, dict[str, int]] = {}

    def at(self, path: str) -> Fact:
        """What is at a path, scalar or not. Raises NoSuchField."""
        fact = Fact("", "", self.document, 0)
        for key in keys(path):
            fact = fact.child(self._key(fact, key))
        return fact

    def find(self, path: str) -> Fact:
        """The scalar at a path. Raises NoSuchField."""
        fact = self.at(path)
        if not fact.is_scalar:
            raise NoSuchField(path)
        return fact

    def get(self, path: str) -> Any:
        """What is at a path, scalar or not; None if there is nothing."""
        try:
            return self.at(path).value
        except NoSuchField:
            return None

    def _key(self, fact: Fact, key: str) -> str | int:
        """The key or index that a path names here, be it by the name of a list item. Raises NoSuchField."""
        try:
            return key_in(fact.value, key)
        except NoSuchField:
            positions = self._positions_in(fact.value) if isinstance(fact.value, list) else {}
            if key not in positions:
                raise
            return positions[key]

    def _positions_in(self, items: list[Any]) -> dict[str, int]:
        """The index of each name, the first where several items have it. A record may have thousands of events and
        paths into them, so it is kept."""
        if id(items) not in self._positions:
            named = [(_item_name(item), index) for index, item in enumerate(items)]
            self._positions[id(items)] = {name: index for name, index in reversed(named) if name is not None}
        return self._positions[id(items)]


def _item_name(item: Any) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) else None
