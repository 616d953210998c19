"""Fields of a JSON Schema, with their titles, descriptions and enumerations."""

from collections.abc import Iterator
from typing import Any

from config.http import strict_json
from config.http.strict_json import LITERALS, InvalidJSON
from decisions.mapping.exchange.declarations import MAX_STEPS, BadImport, Declared, Kind, label_of, path_of

MAX_VISITS = 100_000  # parts that are visited and their keys
_KINDS: dict[str, Kind] = {"number": "number", "integer": "number", "boolean": "flag"}
_DAYS = ("date", "date-time")


def read(text: str, below: str = "") -> Iterator[Declared]:
    """Yield the fields of a JSON Schema. Only references within the schema are followed. Raises BadImport."""
    try:
        schema = strict_json.read(text.encode())
    except InvalidJSON as error:
        raise BadImport(f"Invalid JSON: {error.general}.") from None
    if not isinstance(schema, dict):
        raise BadImport("A JSON Schema is an object.")
    yield from _Schema(schema, below).fields(schema, (), frozenset())


class _Schema:
    """A JSON Schema, and how many parts and keys were visited: references may multiply them."""

    def __init__(self, schema: dict[str, Any], below: str) -> None:
        self._schema, self._below, self._visits = schema, below, 0

    def fields(self, part: Any, keys: tuple[str | None, ...], above: frozenset[str]) -> Iterator[Declared]:
        """Yield the fields at and below a part. A part within itself is not entered again.

        Args:
            keys: the path of the part.
            above: the references that led to it.
        """
        self._visits += 1 + (len(part) if isinstance(part, dict) else 0)
        if self._visits > MAX_VISITS or len(keys) > MAX_STEPS:
            raise BadImport(
                f"The schema has more than {MAX_VISITS} parts and keys, or is more than {MAX_STEPS} levels deep."
            )
        part, above = self._resolved(part, above)
        if part is None:
            return
        own = {name: part[name] for name in ("title", "description") if name in part}
        children: list[tuple[Any, tuple[str | None, ...]]] = [(one | own, keys) for one in _structured(part)]
        children += [(one, (*keys, key)) for key, one in _object(part, "properties").items()]
        children += [(part["items"], (*keys, None))] if isinstance(part.get("items"), dict) else []
        for child, path in children:
            yield from self.fields(child, path, above)
        if keys and not children:
            yield self._field(part, keys)

    def _resolved(self, part: Any, above: frozenset[str]) -> tuple[dict[str, Any] | None, frozenset[str]]:
        """Return a part with its reference replaced, or None if it is no object or within itself."""
        beside: dict[str, Any] = {}
        while isinstance(part, dict) and isinstance(reference := part.get("$ref"), str):
            if reference in above:
                return None, above
            above |= {reference}
            beside = {name: value for name, value in part.items() if name != "$ref"} | beside
            part = self._target(reference)
            self._visits += len(part) if isinstance(part, dict) else 0
        return (part | beside if isinstance(part, dict) else None), above

    def _target(self, reference: str) -> Any:
        if not reference.startswith("#"):
            raise BadImport(f"The schema refers to another document: {reference[:200]}. Put it into the schema.")
        target: Any = self._schema
        for step in filter(None, reference[1:].split("/")):
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        return target

    def _field(self, part: dict[str, Any], keys: tuple[str | None, ...]) -> Declared:
        parts = [part, *_alternatives(part)]
        is_day = any(one.get("format") in _DAYS for one in parts)
        return Declared(
            path_of(keys, self._below),
            "date" if is_day else next(filter(None, map(_kind, parts)), "text"),
            label_of(part.get("title"), part.get("description")),
            _codes(part),
        )


def _kind(part: dict[str, Any]) -> Kind | None:
    """Return the kind of a part's type, or of the first of its types that has one."""
    types = part.get("type")
    names = types if isinstance(types, list) else [types]
    return next((_KINDS[name] for name in names if isinstance(name, str) and name in _KINDS), None)


def _codes(part: dict[str, Any]) -> dict[str, str]:
    """Return the codes of a field with their words: `enum`, or `const` and `title` of its alternatives."""
    enum = part.get("enum")
    codes = {_text(code): "" for code in (enum if isinstance(enum, list) else ()) if code is not None}
    for one in _alternatives(part):
        if "const" in one:
            codes[_text(one["const"])] = label_of(one.get("title"), one.get("description"))
    return codes


def _alternatives(part: dict[str, Any]) -> list[dict[str, Any]]:
    return [*_list(part, "oneOf"), *_list(part, "anyOf")]


def _structured(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the parts of a part that have fields of their own, or refer to such a part."""
    parts = [*_list(part, "allOf"), *_alternatives(part)]
    return [one for one in parts if one.keys() & {"properties", "items", "$ref", "allOf", "oneOf", "anyOf", "enum"}]


def _list(part: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = part.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _object(part: dict[str, Any], name: str) -> dict[str, Any]:
    value = part.get(name)
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return LITERALS[value] if value is None or isinstance(value, bool) else str(value)
