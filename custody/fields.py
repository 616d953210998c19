"""The fields commitment: one signed hash that lets any single field of a record be shown and proved alone.

A record's scalar values are the leaves of an RFC 6962 tree, each behind its own secret salt. Whoever is given a leaf,
its salt and its audit path can check that one value against the signed statement, and learns nothing of the others.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from json import scanner
from typing import Any, NamedTuple

from custody import merkle

SALT_BYTES = 32
_BARE_KEY = re.compile(r'[^."\x00-\x1f]+')
_LITERALS = {True: "true", False: "false", None: "null"}


class Leaf(NamedTuple):
    """One scalar of a record: its dotted path and its JSON text exactly as the payload spells it."""

    path: str
    scalar: str

    def entry(self, salt: bytes) -> bytes:
        return b"".join((salt, self.path.encode(), b"\x00", self.scalar.encode()))


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What proves one field: the leaf, its salt, where it stands in the tree, and the audit path (32-byte hashes)."""

    leaf: Leaf
    salt: bytes
    index: int
    audit_path: tuple[bytes, ...]

    def verifies(self, *, root: bytes, count: int) -> bool:
        """Whether this field belongs to the fields commitment (`root`, `count`) of a signed statement."""
        return merkle.verify_inclusion(
            leaf=merkle.leaf_hash(self.leaf.entry(self.salt)),
            index=self.index,
            size=count,
            path=self.audit_path,
            root=root,
        )


def leaves(payload: bytes) -> list[Leaf]:
    """The scalar leaves of a JSON document that `strict_json.read` accepted, in path order (by code point)."""
    text = payload.decode()
    decoder = _EXACT if "\\" in text else _PLAIN
    found: list[tuple[str, str]] = []
    _collect(decoder.decode(text), "", found)
    found.sort()
    return [Leaf(path, scalar) for path, scalar in found]


def quote_key(key: str) -> str:
    """A key as a path segment: bare, or as a JSON string where it is empty or has a dot, quote or control character."""
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def commitment(record_leaves: Sequence[Leaf], salt_key: bytes) -> bytes:
    """Root of the tree over salted leaves.

    Args:
        record_leaves: in path order, as `leaves` returns them.
        salt_key: 32 secret bytes of this record alone.
    """
    return merkle.root(_hashes(record_leaves, _salts(salt_key, len(record_leaves))))


def disclose(record_leaves: Sequence[Leaf], salt_key: bytes, paths: Sequence[str]) -> list[Disclosure]:
    """Proofs for the fields at `paths`, in that order.

    Raises:
        KeyError: the record has no scalar at one of the paths; the argument names it.
    """
    salts = _salts(salt_key, len(record_leaves))
    hashes = _hashes(record_leaves, salts)
    index_of = {leaf.path: index for index, leaf in enumerate(record_leaves)}
    return [
        Disclosure(record_leaves[i], salts[i], i, tuple(merkle.inclusion_proof(hashes, i)))
        for i in (index_of[path] for path in paths)
    ]


def _salts(salt_key: bytes, count: int) -> list[bytes]:
    stream = hashlib.shake_256(salt_key).digest(SALT_BYTES * count)
    return [stream[i : i + SALT_BYTES] for i in range(0, len(stream), SALT_BYTES)]


def _hashes(record_leaves: Sequence[Leaf], salts: list[bytes]) -> list[bytes]:
    return [merkle.leaf_hash(leaf.entry(salt)) for leaf, salt in zip(record_leaves, salts, strict=True)]


class _Spelling(str):
    """JSON text of a scalar, kept as it was written; tells it from a decoded text."""

    __slots__ = ()


class _ExactDecoder(json.JSONDecoder):
    """Keeps the spelling of texts too. The pure-Python scanner it needs is slower, so only escapes call for it."""

    def __init__(self) -> None:
        super().__init__(parse_float=_Spelling, parse_int=_Spelling)
        self.parse_string = _spelled_string
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _spelled_string(text: str, start: int, strict: bool = True) -> tuple[str, int]:
    _, end = json.decoder.scanstring(text, start, strict)  # type: ignore[attr-defined]
    return _Spelling(text[start - 1 : end]), end


_EXACT = _ExactDecoder()
_PLAIN = json.JSONDecoder(parse_float=_Spelling, parse_int=_Spelling)


def _collect(node: Any, path: str, found: list[tuple[str, str]]) -> None:
    if isinstance(node, dict):
        for key, value in node.items():
            segment = quote_key(key)
            _collect(value, f"{path}.{segment}" if path else segment, found)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            _collect(value, f"{path}.{index}", found)
    elif isinstance(node, _Spelling):
        found.append((path, node))
    elif isinstance(node, str):  # without escapes, a text's spelling is the text between quotes
        found.append((path, f'"{node}"'))
    else:
        found.append((path, _LITERALS[node]))
