"""Fields commitment: one signed hash with which any field of a record can be disclosed and proven alone.

A record's scalar values are the leaves of an RFC 6962 tree, each with its own secret salt. With a leaf, its salt and
its audit path, anyone can check that value against the signed statement without learning anything about the others.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from config.http.strict_json import LITERALS, spelling
from custody.sealing import field_paths, merkle

SALT_BYTES = 32


Leaf = tuple[str, str]
"""One scalar of a record: its dotted path, and its JSON text exactly as in the payload."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Proof of one field: the leaf, its salt, its index in the tree, and the audit path (32-byte hashes)."""

    leaf: Leaf
    salt: bytes
    index: int
    audit_path: tuple[bytes, ...]

    def verifies(self, *, root: bytes, count: int) -> bool:
        """Whether this field belongs to the fields commitment (`root`, `count`) of a signed statement.

        A salt of another length is refused, because its end could pass for the beginning of the path.
        """
        return len(self.salt) == SALT_BYTES and merkle.verify_inclusion(
            leaf=_hashes([self.leaf], [self.salt])[0],
            index=self.index,
            size=count,
            path=self.audit_path,
            root=root,
        )


def leaves(payload: bytes, content: Any = None) -> list[Leaf]:
    """Return the scalar leaves of a JSON object, in path order (by code point).

    Args:
        payload: bytes that `strict_json.read` accepts.
        content: the result of reading them, with numbers as their spelling; None parses them again.
    """
    if content is None:
        content = _NUMBERS_SPELLED.decode(payload.decode())
    scalars = field_paths.scalars(content)
    if b"\\" in payload:
        texts = _spelled_texts(payload.decode())
        pairs = [(path, next(texts) if isinstance(value, str) else _spelled(value)) for path, value in scalars]
    else:  # without escapes, a text's spelling is the text between quotes
        pairs = [(path, f'"{value}"' if isinstance(value, str) else _spelled(value)) for path, value in scalars]
    pairs.sort(key=itemgetter(0))
    return pairs


def commitment(record_leaves: Sequence[Leaf], salt_key: bytes) -> bytes:
    """Return the root of the tree over salted leaves.

    Args:
        record_leaves: the result of `leaves`, in path order.
        salt_key: 32 secret bytes, different for each record.
    """
    return merkle.root(_hashes(record_leaves, _salts(salt_key, len(record_leaves))))


def disclose(record_leaves: Sequence[Leaf], salt_key: bytes, paths: Sequence[str]) -> list[Disclosure]:
    """Return proofs for the fields at `paths`, in that order.

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


_NUMBERS_SPELLED = json.JSONDecoder(parse_float=spelling, parse_int=spelling)


def _spelled(value: Any) -> str:
    """Return the spelling of a scalar that is no text."""
    return value.decode() if isinstance(value, bytes) else LITERALS[value]


def _spelled_texts(document: str) -> Iterator[str]:
    """Yield the texts of a document that are not keys, in its own spelling and order.

    A parser would give only their values. Instead, escaped quotes are replaced first, so that all other quotes begin or
    end a text. U+0000 to U+0002, which a JSON document cannot have, are the placeholders.
    """
    marked = document.replace("\\\\", "\x00").replace('\\"', "\x01").replace('"', "\x02")
    parts = marked.replace("\x01", '\\"').replace("\x00", "\\\\").split("\x02")
    # Every second part is a text, and a text before a colon is a key.
    return (f'"{text}"' for text, behind in zip(parts[1::2], parts[2::2], strict=True) if ":" not in behind)
