"""Arrays as parameters of a statement, packed in PostgreSQL's binary format.

psycopg determines the type of items again for each list, which takes five times as long. `array_recv` reads this format
(PostgreSQL, src/backend/utils/adt/arrayfuncs.c), with big-endian numbers: number of dimensions, whether any item is
NULL, type of the items, length and first index of the dimension, 4 bytes each; then each item after its length, which
is -1 for NULL. The `…_recv` function of the item's type defines the format of the item.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from psycopg.abc import DumperKey
from psycopg.adapt import Buffer, Dumper, PyFormat
from psycopg.postgres import types
from psycopg.pq import Format

_HEAD = struct.Struct("!iiIii")
_length = struct.Struct("!i").pack
_NULL = _length(-1)
_microseconds = struct.Struct("!q").pack
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


class Array(NamedTuple):
    """A packed array of one dimension, for cursors on which `ArrayDumper` is registered."""

    oid: int
    packed: bytes


def pack(type_name: str, values: Sequence[Any]) -> Array:
    """Return an array of values of one type. A value may be None.

    Args:
        type_name: PostgreSQL's or Django's name of the item type without a length: `uuid`, `timestamp with time zone`.
        values: UUIDs, texts, bytes, aware times, booleans or integers, matching the type.

    Raises:
        KeyError: items of this type cannot be packed.
        struct.error: an integer is too large for its type.
    """
    info = types[type_name]
    encode = _ENCODERS[info.name]
    items = [b""]
    for value in values:
        if value is None:
            items.append(_NULL)
        else:
            item = encode(value)
            items += _length(len(item)), item
    items[0] = _HEAD.pack(1, None in values, info.oid, len(values), 1)
    return Array(info.array_oid, b"".join(items))


class ArrayDumper(Dumper):
    """A dumper that passes an `Array` to PostgreSQL unchanged."""

    format = Format.BINARY

    def get_key(self, obj: Array, format: PyFormat) -> DumperKey:  # one dumper for each type of array
        return (self.cls, obj.oid)  # type: ignore[return-value]

    def upgrade(self, obj: Array, format: PyFormat) -> "ArrayDumper":
        dumper = ArrayDumper(self.cls)
        dumper.oid = obj.oid
        return dumper

    def dump(self, obj: Array) -> Buffer:
        return obj.packed


def _timestamp(value: datetime) -> bytes:
    since = value - _EPOCH
    return _microseconds((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)


_ENCODERS: Mapping[str, Callable[[Any], bytes]] = {
    "uuid": lambda value: value.bytes,
    "varchar": str.encode,
    "text": str.encode,
    "bytea": bytes,
    "timestamptz": _timestamp,
    "bool": struct.Struct("!?").pack,
    "int2": struct.Struct("!h").pack,
    "int4": struct.Struct("!i").pack,
    "int8": struct.Struct("!q").pack,
}
