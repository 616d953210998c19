"""RFC 6962 trees, against the shared vectors of certificate-transparency implementations, and for random trees."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from custody.sealing import merkle

# The eight entries and the roots of their first 0…8, from certificate-transparency's merkle_tree_test.
ENTRIES = [
    bytes.fromhex(entry)
    for entry in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
# Audit paths of the same test: (leaf number from 0, tree size, hashes).
PATHS = [
    (0, 1, []),
    (
        0,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]
HASHES = [merkle.leaf_hash(entry) for entry in ENTRIES]


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_certificate_transparency(size):
    assert merkle.root(HASHES[:size]).hex() == ROOTS[size]


@pytest.mark.parametrize(("index", "size", "path"), PATHS)
def test_audit_paths_are_those_of_certificate_transparency(index, size, path):
    assert [digest.hex() for digest in merkle.inclusion_proof(HASHES[:size], index)] == path


def test_a_leaf_and_an_inner_node_never_have_the_same_hash():
    left, right = HASHES[:2]
    assert merkle.leaf_hash(left + right) != merkle.root([left, right])
    assert merkle.leaf_hash(b"x") == hashlib.sha256(b"\x00x").digest()


@pytest.mark.parametrize(("size", "index"), [(0, 0), (3, 3), (3, -1)])
def test_a_missing_leaf_has_no_proof(size, index):
    with pytest.raises(IndexError):
        merkle.inclusion_proof(HASHES[:size], index)


@st.composite
def proofs(draw: st.DrawFn) -> dict:
    """Draw a random tree and the true proof of one of its leaves, as arguments of `verify_inclusion`."""
    size = draw(st.integers(1, 70))
    index = draw(st.integers(0, size - 1))
    leaves = [merkle.leaf_hash(b"%d" % number) for number in range(size)]
    return {
        "leaf": leaves[index],
        "index": index,
        "size": size,
        "path": merkle.inclusion_proof(leaves, index),
        "root": merkle.root(leaves),
    }


def flip(octets: bytes, bit: int) -> bytes:
    changed = bytearray(octets)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@given(proofs())
def test_every_inclusion_proof_verifies(proof):
    assert merkle.verify_inclusion(**proof)


@given(proofs(), st.integers(0, 255))
def test_a_flipped_bit_of_leaf_or_root_does_not_verify(proof, bit):
    assert not merkle.verify_inclusion(**proof | {"leaf": flip(proof["leaf"], bit)})
    assert not merkle.verify_inclusion(**proof | {"root": flip(proof["root"], bit)})


@given(proofs(), st.integers(0, 255), st.data())
def test_a_flipped_bit_of_the_path_does_not_verify(proof, bit, data):
    for number in range(len(proof["path"])):
        path = list(proof["path"])
        path[number] = flip(path[number], bit)
        assert not merkle.verify_inclusion(**proof | {"path": path})


@given(proofs(), st.integers(-2, 80))
def test_another_index_does_not_verify(proof, index):
    if index != proof["index"]:
        assert not merkle.verify_inclusion(**proof | {"index": index})


@given(proofs())
def test_a_path_cut_short_or_grown_or_turned_round_does_not_verify(proof):
    path = proof["path"]
    assert not merkle.verify_inclusion(**proof | {"path": [*path, proof["leaf"]]})
    if path:
        assert not merkle.verify_inclusion(**proof | {"path": path[:-1]})
        assert not merkle.verify_inclusion(**proof | {"path": path[1:]})
    if len(path) > 1:
        assert not merkle.verify_inclusion(**proof | {"path": path[::-1]})


@given(proofs(), st.integers(0, 80))
def test_another_size_does_not_verify_if_it_gives_the_leaf_another_path(proof, size):
    """RFC 6962 binds the size only through the path's shape. A signed statement adds the size itself."""
    shape = path_shape(proof["index"], size)
    if shape != path_shape(proof["index"], proof["size"]):
        assert not merkle.verify_inclusion(**proof | {"size": size})


def path_shape(index: int, size: int) -> list[str]:
    """Return the side of each sibling of a leaf, by RFC 6962's recursive definition."""
    if not 0 <= index < size:
        return ["none"]
    if size == 1:
        return []
    split = 1 << (size - 1).bit_length() - 1
    if index < split:
        return [*path_shape(index, split), "right"]
    return [*path_shape(index - split, size - split), "left"]


@given(st.lists(st.binary(max_size=8), max_size=40))
def test_the_root_is_that_of_the_recursive_definition(entries):
    def mth(leaves: list[bytes]) -> bytes:
        if not leaves:
            return hashlib.sha256(b"").digest()
        if len(leaves) == 1:
            return hashlib.sha256(b"\x00" + leaves[0]).digest()
        k = 1 << (len(leaves) - 1).bit_length() - 1
        return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()

    assert merkle.root([merkle.leaf_hash(entry) for entry in entries]) == mth(entries)
