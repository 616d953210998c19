"""Differences between two texts, found in time linear in their length."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notices.back_office.comparison import compare
from notices.back_office.differences import differences
from notices.models import NoticeRevision
from tests.growth import assert_linear

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", " ", "e", "f"]), max_size=30)


@given(WORDS, WORDS)
def test_the_blocks_of_a_difference_make_up_both_sides(before, after):
    blocks = list(differences(before, after))
    assert [word for block in blocks for word in block.before] == before
    assert [word for block in blocks for word in block.after] == after
    assert all(block.before == block.after for block in blocks if block.is_same)
    assert all(block.before or block.after for block in blocks)
    assert all(one.is_same != other.is_same for one, other in pairwise(blocks))


@given(WORDS)
def test_equal_texts_have_no_differences(words):
    assert all(block.is_same for block in differences(words, words))


def test_moved_changed_and_added_words_are_distinguished():
    before = ["The", "income", "was", "low", "and", "the", "loan", "was", "large"]
    after = ["The", "income", "was", "too", "low", "and", "a", "loan", "was", "large", "indeed"]
    assert [(block.before, block.after) for block in differences(before, after) if not block.is_same] == [
        ([], ["too"]), (["the"], ["a"]), ([], ["indeed"]),
    ]  # fmt: skip


def ruler(size: int) -> list[str]:
    return [f"t{(number & -number).bit_length()}" for number in range(1, size)]


SIDES = {
    "nothing in common": lambda n: (["a"] * n, ["b"] * n),
    "one line again and again": lambda n: (["a"] * n, ["b", *["a"] * n, "c"]),
    "two lines again and again": lambda n: (["a", "b"] * n, ["b", "a"] * n + ["a"]),
    "every other line changed": lambda n: ([f"{i}" for i in range(n)], [f"{i}" if i % 2 else "x" for i in range(n)]),
    "all lines reversed": lambda n: ([f"{i}" for i in range(n)], [f"{i}" for i in reversed(range(n))]),
    "lines of a ruler": lambda n: (ruler(n), ["x", *ruler(n)[::-1], "y"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("sides", SIDES.values(), ids=SIDES)
def test_finding_differences_grows_as_the_texts_do(sides):
    assert_linear(lambda both: list(differences(*both)), sides, 20_000)


@pytest.mark.parametrize("text", ["a ", "a\n", "ab ba ", "\n"])
def test_comparing_revisions_grows_as_they_do(text):
    def revisions(size: int) -> tuple[NoticeRevision, NoticeRevision]:
        repeated = text * (size // len(text))
        one, other = ({"title": title, "rights": [repeated + title, repeated]} for title in ("One", "Two"))
        return NoticeRevision(content=one, not_applicable={}), NoticeRevision(content=other, not_applicable={})

    assert_linear(lambda both: compare(*both), revisions, 100_000)
