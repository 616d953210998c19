"""Arrays as parameters of a statement, packed in PostgreSQL's binary format.

psycopg finds out anew for each list what its items are, which costs five times as much. The format is what `array_recv`
reads (PostgreSQL, src/backend/utils/adt/arrayfuncs.c), all numbers big-endian: the number of dimensions, whether any
item is NULL, the type of the items, length and first index of the dimension, 4 bytes each; then the items, each after
its length, which is -1 for NULL. An item is as the `…_recv` function of its own type reads it.
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
    """A packed array of one dimension. Cursors take it once `ArrayDumper` is registered with them."""

    oid: int
    packed: bytes


def pack(type_name: str, values: Sequence[Any]) -> Array:
    """An array of values of one type, None among them.

    Args:
        type_name: of an item, as PostgreSQL or Django spells it, without a length: `uuid`, `timestamp with time zone`.
        values: UUIDs, texts, bytes, aware times, booleans or integers, as the type asks for.

    Raises:
        KeyError: it is none of the types that are packed here.
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
    """Hands an `Array` to PostgreSQL as it is."""

    format = Format.BINARY

    def get_key(self, obj: Array, format: PyFormat) -> DumperKey:  # each type of array has a dumper of its own
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
