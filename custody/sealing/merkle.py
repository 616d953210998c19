"""RFC 6962 Merkle trees (SHA-256): roots, inclusion proofs and their verification."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

EMPTY_ROOT = sha256().digest()


def leaf_hashes(entries: Iterable[bytes]) -> list[bytes]:
    """Return the hashes of leaf entries (RFC 6962 section 2.1)."""
    return [sha256(b"\x00" + entry).digest() for entry in entries]


def leaf_hash(entry: bytes) -> bytes:
    """Return the hash of one leaf entry."""
    return leaf_hashes([entry])[0]


def _parents(level: list[bytes]) -> list[bytes]:
    """Return the level above. An odd last node moves up unchanged, which gives RFC 6962's left-filled split."""
    pairs = [sha256(b"\x01" + left + right).digest() for left, right in zip(level[::2], level[1::2], strict=False)]
    return pairs + level[len(pairs) * 2 :]


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the tree hash of leaf hashes; for no leaves, the SHA-256 of the empty string."""
    level = list(leaves)
    while len(level) > 1:
        level = _parents(level)
    return level[0] if level else EMPTY_ROOT


def inclusion_proof(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the audit path of leaf `index`, nearest sibling first (RFC 6962 section 2.1.1).

    Raises:
        IndexError: there is no such leaf.
    """
    return inclusion_proofs(leaves, [index])[0]


def inclusion_proofs(leaves: Sequence[bytes], indexes: Iterable[int]) -> list[list[bytes]]:
    """Return the audit paths of several leaves, and hash the tree only once. Raises as `inclusion_proof`."""
    levels = [list(leaves)]
    while len(levels[-1]) > 1:
        levels.append(_parents(levels[-1]))
    return [_audit_path(levels, index) for index in indexes]


def _audit_path(levels: Sequence[list[bytes]], index: int) -> list[bytes]:
    if not 0 <= index < len(levels[0]):
        raise IndexError(index)
    siblings = [(level, (index >> height) ^ 1) for height, level in enumerate(levels)]
    return [level[sibling] for level, sibling in siblings if sibling < len(level)]


def verify_inclusion(*, leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `leaf` (a leaf hash) is number `index` of the `size` leaves under `root` (RFC 9162 section 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    position, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            return False
        if position % 2 or position == last:
            node = sha256(b"\x01" + sibling + node).digest()
            while position % 2 == 0 and position:
                position, last = position // 2, last // 2
        else:
            node = sha256(b"\x01" + node + sibling).digest()
        position, last = position // 2, last // 2
    return last == 0 and node == root
