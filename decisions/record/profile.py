"""The profile of a record: what it says, in typed values, as the mapping of its system declares.

Letters, checks, deadlines and lists know a record by its profile only. Each value names the fields it may cite, the
value as signed, and how it was decoded. Reading depends on record and mapping alone: on no database, clock or language.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from decisions.record import values
from decisions.record.meanings import Entry, OutcomeKind, WithheldClass
from decisions.record.values import Unreadable
from decisions.record.walk import Scalar, Table

_NO_WORDS = "a code that no one has explained yet"


@dataclass(frozen=True, slots=True)
class Origin:
    """The field that a value is from.

    Attributes:
        path: the path to cite.
        stored: the value as signed; numbers as int or Decimal.
        decode: how the value was read from it, in words, or "" if it is read as it is.
        meaning: the meaning that the mapping gives the field.
        profile_path: the field of the published profile that it is, if its meaning is `profile`.
        label: the field's name by language.
    """

    path: str
    stored: Any
    decode: str
    meaning: str
    label: Mapping[str, str]
    profile_path: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome. `words` are the mapping's, by language."""

    origin: Origin
    kind: OutcomeKind
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the record, or the mapping's words for its code by language. Of a code, `text` is empty."""

    origin: Origin
    text: str
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount, rate, number, day, term or flag, decoded. `values` says which types `value` has."""

    origin: Origin
    value: values.Quantity


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of the decision: its name, and what was measured and which way it counted, if the record says so."""

    origin: Origin
    name: Text
    measured: Quantity | Text | None
    direction: Text | None

    @property
    def beside(self) -> list[str]:
        """The paths of the fields beside its name."""
        return [part.origin.path for part in (self.measured, self.direction) if part]


@dataclass(frozen=True, slots=True)
class Input:
    """A kind of information that was used. `value` is its text, if the mapping tells values."""

    origin: Origin
    value: str | None


@dataclass(frozen=True, slots=True)
class Withheld:
    """A field that letters never print."""

    path: str
    because: WithheldClass


@dataclass(frozen=True, slots=True)
class Unknown:
    """A field that the mapping does not explain: one without an entry, a code without words, or a value that cannot be
    read as the entry says. `problem` says which, without the value."""

    path: str
    general: str
    problem: str


Value = Decision | Text | Quantity | Factor | Input


@dataclass(slots=True)
class Profile:
    """The statements of a record in its order, and the fields that no letter can tell.

    Attributes:
        values: the fields that a letter may cite.
        unmapped: the fields without an entry.
        unknown: the fields that their entry does not explain.
    """

    values: list[Value] = field(default_factory=list)
    withheld: list[Withheld] = field(default_factory=list)
    unmapped: list[Scalar] = field(default_factory=list)
    unknown: list[Unknown] = field(default_factory=list)


def read(record: dict[str, Any], *tables: Table) -> Profile:
    """Return the profile of a record.

    Args:
        record: the record, with numbers as int or Decimal.
        tables: the entries of its mappings. The first that has an entry for a field explains it.
    """
    profile = Profile()
    for scalar in _first(table.walk(record) for table in tables):
        if scalar.entry is None:
            profile.unmapped.append(scalar)
        elif scalar.entry.means == "not_told":
            profile.withheld.append(Withheld(scalar.path, scalar.entry.class_ or "internal"))
        elif not (_is_blank(scalar.value) or _says_nothing(scalar.value, scalar.entry)):
            try:
                profile.values.append(_value(scalar, scalar.entry, record))
            except Unreadable as error:
                profile.unknown.append(Unknown(scalar.path, scalar.general, str(error)))
    beside = {path for value in profile.values if isinstance(value, Factor) for path in value.beside}
    profile.unmapped = [scalar for scalar in profile.unmapped if scalar.path not in beside]
    return profile


def _first(walks: Iterable[Iterator[Scalar]]) -> Iterator[Scalar]:
    """Yield each scalar of the walks through one record, with the first entry that explains it."""
    for scalars in zip(*walks, strict=True):
        yield next((scalar for scalar in scalars if scalar.entry), scalars[0])


def _value(scalar: Scalar, entry: Entry, record: dict[str, Any]) -> Value:
    """Return what a field says. Raises Unreadable."""
    match entry.means:
        case "decision":
            decoded = values.coded(scalar.value, entry)
            if decoded is None and entry.unmapped == "as_written":
                return Text(_origin(scalar, entry, ""), values.plain(scalar.value), {})
            if decoded is None or decoded.outcome is None:
                raise Unreadable(_NO_WORDS)
            decode = f"told as {decoded.outcome.replace('_', ' ')}"
            return Decision(_origin(scalar, entry, decode), decoded.outcome, decoded.words)
        case "factor":
            return _factor(scalar, entry)
        case "input":
            shown = values.plain(scalar.value) if entry.show == "value" else None
            return Input(_origin(scalar, entry, ""), shown)
        case "profile" if not isinstance(scalar.value, str):
            return Quantity(_origin(scalar, entry, ""), values.measured(scalar.value, None))
        case meaning if not entry.values and (reader := values.READERS.get(meaning)):
            value, decode = reader(scalar.value, entry, values.Around(scalar.parent, record))
            return Quantity(_origin(scalar, entry, decode), value)
    return _text(scalar, entry)


def _says_nothing(value: Any, entry: Entry) -> bool:
    """Whether a code says nothing to a person, as its table declares: `false` of a reason that does not apply."""
    decoded = values.coded(value, entry)
    return decoded is not None and decoded.relation == "not-related-to" and not (decoded.words or decoded.outcome)


def _text(scalar: Scalar, entry: Entry) -> Text:
    """Return a text, or the words of a code. Raises Unreadable."""
    decoded = values.coded(scalar.value, entry) if entry.values else None
    if decoded is not None and decoded.words:
        return Text(_origin(scalar, entry, "told in the words of the mapping"), "", decoded.words)
    if entry.values and entry.unmapped == "block":
        raise Unreadable(_NO_WORDS)
    return Text(_origin(scalar, entry, ""), values.plain(scalar.value), {})


def _factor(scalar: Scalar, entry: Entry) -> Factor:
    """Return a factor with the fields beside it. Raises Unreadable."""
    name = _text(scalar, entry)
    measured = _sibling(scalar, entry, entry.value)
    direction = _sibling(scalar, entry, entry.direction)
    return Factor(
        name.origin,
        name,
        _measured(measured, entry.unit) if measured else None,
        Text(direction, values.plain(direction.stored), {}) if direction else None,
    )


def _measured(origin: Origin, unit: str | None) -> Quantity | Text:
    """Return what a factor measured. Raises Unreadable."""
    if isinstance(origin.stored, str):
        return Text(origin, values.plain(origin.stored), {})
    return Quantity(origin, values.measured(origin.stored, unit))


def _sibling(scalar: Scalar, entry: Entry, place: str | None) -> Origin | None:
    """Return the origin of a field beside another one, or None if the record has none there."""
    if place is None:
        return None
    path, stored = values.beside(scalar.parent, scalar.parent_path, place)
    return None if _is_blank(stored) else Origin(path, stored, "", entry.means, {})


def _origin(scalar: Scalar, entry: Entry, decode: str) -> Origin:
    return Origin(scalar.path, scalar.value, decode, entry.means, entry.label, entry.as_)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
