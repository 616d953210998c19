"""The fields commitment: one signed hash that lets any single field of a record be shown and proved alone.

A record's scalar values are the leaves of an RFC 6962 tree, each behind its own secret salt. Whoever is given a leaf,
its salt and its audit path can check that one value against the signed statement, and learns nothing of the others.
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


def leaves(payload: bytes, content: Any = None) -> list[Leaf]:
    """The scalar leaves of a JSON object, in path order (by code point).

    Args:
        payload: bytes that `strict_json.read` accepts.
        content: what it made of them with numbers as their spelling, if that is at hand; it saves parsing again.
    """
    if content is None:
        content = _NUMBERS_SPELLED.decode(payload.decode())
    scalars = field_paths.scalars(content)
    if b"\\" in payload:
        texts = _spelled_texts(payload.decode())
        found = [(path, next(texts) if isinstance(value, str) else _spelled(value)) for path, value in scalars]
    else:  # without escapes, a text's spelling is the text between quotes
        found = [(path, f'"{value}"' if isinstance(value, str) else _spelled(value)) for path, value in scalars]
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


_NUMBERS_SPELLED = json.JSONDecoder(parse_float=spelling, parse_int=spelling)


def _spelled(value: Any) -> str:
    """A scalar that is no text."""
    return value.decode() if isinstance(value, bytes) else LITERALS[value]


def _spelled_texts(document: str) -> Iterator[str]:
    """The texts of a document that are no keys, as it spells them, in its order.

    A parser tells only what they mean; but where those quotes that are escaped are told from the others, the others
    are what texts begin and end with. U+0000 to U+0002 take their places meanwhile, which a JSON document cannot have.
    """
    marked = document.replace("\\\\", "\x00").replace('\\"', "\x01").replace('"', "\x02")
    parts = marked.replace("\x01", '\\"').replace("\x00", "\\\\").split("\x02")
    # Every other part is a text; and a key is what has a colon behind it.
    return (f'"{text}"' for text, behind in zip(parts[1::2], parts[2::2], strict=True) if ":" not in behind)
