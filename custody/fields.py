"""The fields commitment: one signed hash that lets any single field of a record be shown and proved alone.

A record's scalar values are the leaves of an RFC 6962 tree, each behind its own secret salt. Whoever is given a leaf,
its salt and its audit path can check that one value against the signed statement, and learns nothing of the others.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from json import scanner
from operator import itemgetter
from typing import Any

from config.api.strict_json import LITERALS, spelling
from custody import merkle, record_paths

SALT_BYTES = 32


Leaf = tuple[str, str]
"""One scalar of a record: its dotted path, and its JSON text exactly as the payload spells it."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What proves one field: the leaf, its salt, where it stands in the tree, and the audit path (32-byte hashes)."""

    leaf: Leaf
    salt: bytes
    index: int
    audit_path: tuple[bytes, ...]

    def verifies(self, *, root: bytes, count: int) -> bool:
        """Whether this field belongs to the fields commitment (`root`, `count`) of a signed statement.

        A salt of another length is refused: its end could pass for the beginning of the path.
        """
        return len(self.salt) == SALT_BYTES and merkle.verify_inclusion(
            leaf=_hashes([self.leaf], [self.salt])[0],
            index=self.index,
            size=count,
            path=self.audit_path,
            root=root,
        )


def leaves(payload: bytes, spelled: Any = None) -> list[Leaf]:
    """The scalar leaves of a JSON object, in path order (by code point).

    Args:
        payload: bytes that `strict_json.read` accepts.
        spelled: what it made of them with numbers as their spelling, if that is at hand; it saves parsing again.
    """
    if spelled is None or b"\\" in payload:
        spelled = _SPELLING.decode(payload.decode())
    found = [(path, _as_spelled(value)) for path, value in record_paths.scalars(spelled)]
    found.sort(key=itemgetter(0))
    return found


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
    index_of = {path: index for index, (path, _) in enumerate(record_leaves)}
    wanted = [index_of[path] for path in paths]
    proofs = merkle.inclusion_proofs(hashes, wanted)
    return [Disclosure(record_leaves[i], salts[i], i, tuple(proof)) for i, proof in zip(wanted, proofs, strict=True)]


def _salts(salt_key: bytes, count: int) -> list[bytes]:
    stream = hashlib.shake_256(salt_key).digest(SALT_BYTES * count)
    return [stream[i : i + SALT_BYTES] for i in range(0, len(stream), SALT_BYTES)]


def _hashes(record_leaves: Sequence[Leaf], salts: Sequence[bytes]) -> list[bytes]:
    pairs = zip(record_leaves, salts, strict=True)
    return merkle.leaf_hashes(salt + f"{path}\x00{scalar}".encode() for (path, scalar), salt in pairs)


# While a document is taken apart, `bytes` are the spelling of a scalar and `str` is a decoded text.


class _SpellingDecoder(json.JSONDecoder):
    """Keeps the spelling of numbers and of texts. Only texts with escapes need it: it runs on the pure-Python scanner,
    which is slower."""

    def __init__(self) -> None:
        super().__init__(parse_float=spelling, parse_int=spelling)
        self.parse_string = _spelled_string
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]


def _spelled_string(text: str, start: int, strict: bool = True) -> tuple[bytes, int]:
    _, end = json.decoder.scanstring(text, start, strict)  # type: ignore[attr-defined]
    return text[start - 1 : end].encode(), end


_SPELLING = _SpellingDecoder()


def _as_spelled(value: Any) -> str:
    if isinstance(value, str):  # without escapes, a text's spelling is the text between quotes
        return f'"{value}"'
    return value.decode() if isinstance(value, bytes) else LITERALS[value]
