"""Field maps, which make a record from an item of another shape and include the exact item."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from config.errors import DomainError
from config.http import strict_json
from config.http.strict_json import MAX_BYTES, InvalidJSON, spelling
from connectors.formats.pointers import MAX_STEPS, POINTER, values_at

_MAX_FIELDS = 64

Target = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^.\x00]+(\.[^.\x00]+){0,7}$")]
"""A field of the record: `decision_id`, `outcome.action`."""
Pointer = Annotated[str, Field(max_length=512, pattern=POINTER)]


class Unmapped(DomainError):
    """No record can be made of this item."""

    code, status = "unmapped", 422


class FieldMap(BaseModel):
    """Rules for making a record from an item of another shape."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    fields: Annotated[dict[Target, Pointer], Field(max_length=_MAX_FIELDS)] = {}
    """JSON pointers into the item, by the record field that gets the value."""
    constants: Annotated[dict[Target, JsonValue], Field(max_length=_MAX_FIELDS)] = {}
    """Values that are the same for every record, by record field."""
    original: Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^.\x00]+$")] = "original"
    """The field that holds the exact item."""

    @model_validator(mode="after")
    def _fields_do_not_overlap(self) -> "FieldMap":
        targets = [*self.fields, *self.constants, self.original]
        if "decision_id" not in self.fields:
            raise ValueError("fields must say where the decision_id is, such as /id")
        if any(pointer.count("/") > MAX_STEPS for pointer in self.fields.values()):
            raise ValueError(f"a pointer has at most {MAX_STEPS} steps")
        within = any(other.startswith(f"{one}.") for one in targets for other in targets)
        if within or len(set(targets)) < len(targets):
            raise ValueError("a field is named twice, or is within another")
        return self


OPA = FieldMap(fields={"decision_id": "/decision_id", "decided_at": "/timestamp", "system.name": "/path"})
"""The map for decision logs of Open Policy Agent."""


def record_of(item: bytes, field_map: FieldMap) -> bytes:
    """Return the record: the mapped values and then the item, all with their exact bytes.

    A number as `decision_id` becomes a text of the same digits.

    Raises:
        Unmapped: the item is not an acceptable JSON object, lacks the decision_id, or makes too large a record.
    """
    _require_object(item)
    mapped = values_at(item, field_map.fields.values())
    values: dict[str, bytes] = {
        target: mapped[pointer] for target, pointer in field_map.fields.items() if pointer in mapped
    }
    values["decision_id"] = _identity(values.get("decision_id"), field_map.fields["decision_id"])
    for target, constant in field_map.constants.items():
        values[target] = json.dumps(constant, ensure_ascii=False).encode()
    return _joined(_spelled({**_tree(values), field_map.original: item}))


def _require_object(item: bytes) -> None:
    try:
        content = strict_json.read(item, number=spelling, integer=spelling)
    except InvalidJSON as error:
        raise Unmapped(f"Invalid JSON: {error.general}.") from None
    if not isinstance(content, dict):
        raise Unmapped("Not a JSON object.")


def _identity(value: bytes | None, pointer: str) -> bytes:
    if value is None or value in (b"null", b'""'):
        raise Unmapped(f"There is nothing at {pointer}, where its decision_id should be.")
    if value[:1] == b'"':
        return value
    if value[:1] in b"{[tf":
        raise Unmapped(f"What is at {pointer} is neither a text nor a number, so it cannot be the decision_id.")
    return b'"' + value + b'"'


def _tree(values: Mapping[str, bytes]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for target, value in values.items():
        *groups, name = target.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[name] = value
    return tree


def _spelled(tree: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield the parts of an object's text, without copying values."""
    before = b"{"
    for name, value in tree.items():
        yield before + json.dumps(name, ensure_ascii=False).encode() + b":"
        yield from _spelled(value) if isinstance(value, dict) else (value,)
        before = b","
    yield b"}"


def _joined(parts: Iterable[bytes]) -> bytes:
    """Join the parts, after a check of their total size, because one value may be mapped to many fields."""
    pieces = list(parts)
    if sum(map(len, pieces)) > MAX_BYTES:
        raise Unmapped(f"Its record would be larger than {MAX_BYTES // 2**20} MiB.")
    return b"".join(pieces)
