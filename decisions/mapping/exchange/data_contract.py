"""Data contracts in the Open Data Contract Standard (ODCS 3.x): fields of a customer's, and export of a version.

Options of an entry that the standard does not know are custom properties with the prefix `decision-record.`. They make
an exported contract the same entries again.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from decisions.mapping.exchange import plain_yaml
from decisions.mapping.exchange.declarations import MAX_STEPS, BadImport, Declared, Kind, label_of, path_of
from decisions.mapping.models import MappingVersion
from decisions.record.meanings import Entry

PREFIX = "decision-record."
_API_VERSION = "v3.2.0"
_KINDS: dict[str, Kind] = {
    "number": "number",
    "integer": "number",
    "boolean": "flag",
    "date": "date",
    "timestamp": "date",
}


def read(text: str, below: str = "", object_name: str = "") -> Iterator[Declared]:
    """Yield the fields of a contract.

    Args:
        text: the contract, in YAML or JSON.
        below: the place of the fields in the record, as a pattern, or "" for its top.
        object_name: the schema object to read, if the contract has several.

    Raises:
        BadImport
    """
    contract = plain_yaml.read(text)
    if not isinstance(contract, dict) or contract.get("kind") != "DataContract":
        raise BadImport("This is no data contract: it lacks kind: DataContract.")
    if not str(contract.get("apiVersion", "")).startswith("v3."):
        raise BadImport("The contract's apiVersion is not v3. Convert it to ODCS 3.")
    chosen = _object(_items(contract, "schema"), object_name)
    for name in _items(chosen, "properties"):
        yield from _fields(name, (), below)


def contract(version: MappingVersion) -> dict[str, Any]:
    """Return a version of a mapping as a contract."""
    mapping = version.mapping
    selects = ("system_name", "system_versions", "source", "field_path", "field_value")
    own = {name: getattr(mapping, name) for name in selects} | {"digest": version.digest}
    return {
        "apiVersion": _API_VERSION,
        "kind": "DataContract",
        "id": f"{mapping.organization_id}-mapping-{mapping.pk}",
        "name": mapping.name,
        "version": str(version.number),
        "status": "active" if version.confirmed_at else "draft",
        "schema": [
            {
                "name": "record",
                "logicalType": "object",
                "physicalType": "json",
                "properties": [_property(Entry.model_validate(entry)) for entry in version.entries],
            }
        ],
        "customProperties": _custom({name: value for name, value in own.items() if value}),
    }


def _property(entry: Entry) -> dict[str, Any]:
    """Return an entry as a property of a contract."""
    options = entry.model_dump(mode="json", by_alias=True, exclude_unset=True)
    values = options.pop("values") if options.get("values") else {}
    shown: dict[str, Any] = {"name": entry.path}
    if entry.label:
        shown["businessName"] = next(iter(entry.label.values()))
    if entry.class_:
        shown["classification"] = entry.class_
    if values:
        shown["enum"] = [_enum_value(code, value) for code, value in values.items()]
    return shown | {"customProperties": _custom(options)}


def _enum_value(code: str, value: dict[str, str]) -> dict[str, Any]:
    """Return a code as a value of an enumeration: its label is its outcome, or its words in the first language."""
    words = [text for name, text in value.items() if name not in ("outcome", "relation")]
    labels = [value["outcome"].replace("_", " ")] if value.get("outcome") else words
    shown: dict[str, Any] = {"value": code} | ({"label": labels[0]} if labels else {})
    return shown | {"customProperties": _custom(value)}


def _custom(options: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"property": PREFIX + name, "value": value} for name, value in options.items()]


def _own(element: dict[str, Any]) -> dict[str, Any]:
    """Return our options of an element, without the prefix."""
    rows = _items(element, "customProperties")
    named = ((row.get("property"), row.get("value")) for row in rows)
    return {name[len(PREFIX) :]: value for name, value in named if isinstance(name, str) and name.startswith(PREFIX)}


def _object(objects: list[dict[str, Any]], name: str) -> dict[str, Any]:
    matching = [one for one in objects if not name or one.get("name") == name]
    if len(matching) == 1:
        return matching[0]
    names = ", ".join(str(one.get("name", "")) for one in objects[:20])
    raise BadImport(f"Name one object of the contract's schema: {names}." if objects else "The contract has no schema.")


def _fields(element: dict[str, Any], above: tuple[str | None, ...], below: str) -> Iterator[Declared]:
    """Yield the field that a property is, or those below it."""
    own = _own(element)
    if "means" in own:
        yield _with_entry(element, own)
        return
    name = element.get("physicalName") or element.get("name")
    if not isinstance(name, str) or not name:
        raise BadImport("A property of the contract has no name.")
    if len(above) > MAX_STEPS:
        raise BadImport(f"A field is more than {MAX_STEPS} levels deep.")
    yield from _content(element, (*above, name), below)


def _content(element: dict[str, Any], keys: tuple[str | None, ...], below: str) -> Iterator[Declared]:
    items, parts = element.get("items"), _items(element, "properties")
    if isinstance(items, dict) and len(keys) <= MAX_STEPS:
        yield from _content(items, (*keys, None), below)
    elif parts:
        for part in parts:
            yield from _fields(part, keys, below)
    else:
        yield Declared(
            path_of(keys, below),
            _KINDS.get(str(element.get("logicalType")), "text"),
            label_of(element.get("businessName"), element.get("description")),
            _codes(element),
            str(element.get("classification") or ""),
        )


def _with_entry(element: dict[str, Any], own: dict[str, Any]) -> Declared:
    """Return the field of a property that has the options of an entry. Raises BadImport."""
    enum = {_text(value.get("value")): _own(value) for value in _items(element, "enum")}
    options = {"path": element.get("name")} | own | ({"values": enum} if enum else {})
    try:
        entry = Entry.model_validate(options)
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadImport(f"{element.get('name')}: {problem['msg']} ({'.'.join(map(str, problem['loc']))}).") from None
    return Declared(entry.path, entry=entry)


def _codes(element: dict[str, Any]) -> dict[str, str]:
    """Return the codes of a property with their words: its `enum`, or the `validValues` of its quality rules."""
    codes = {
        _text(value.get("value")): label_of(value.get("label"), value.get("description"))
        for value in _items(element, "enum")
    }
    for rule in _items(element, "quality"):
        arguments = rule.get("arguments")
        valid = rule.get("validValues") or (arguments.get("validValues") if isinstance(arguments, dict) else None)
        codes |= {_text(code): "" for code in valid or () if not isinstance(code, dict | list)}
    return codes


def _items(element: dict[str, Any], name: str) -> list[dict[str, Any]]:
    rows = element.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise BadImport(f"{name} of the contract is not a list of objects.")
    return rows


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
