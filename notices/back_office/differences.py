"""Differences between two lists of lines or words, in O(n log n).

`difflib` is quadratic, and cubic if many items repeat. This is B. Cohen's patience diff: items that are unique on both
sides are matched first, in the longest order that both share, and the parts between them by the same rule.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

_LEVELS = 10  # of recursion; deeper differences are shown as one replaced part


Position = tuple[int, int]
"""Indexes in the lists before and after."""


class Block(NamedTuple):
    """A part of both lists: the same in both, or replaced."""

    is_same: bool
    before: Sequence[str]
    after: Sequence[str]


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[Block]:
    """Yield the blocks of both lists in order. Same and changed blocks alternate."""
    blocks = (block for block in _blocks(before, after, _LEVELS) if block.before or block.after)
    for is_same, run in groupby(blocks, key=lambda block: block.is_same):
        befores, afters = zip(*((block.before, block.after) for block in run), strict=True)
        yield Block(is_same, list(chain(*befores)), list(chain(*afters)))


def _blocks(before: Sequence[str], after: Sequence[str], levels: int) -> Iterator[Block]:
    """Yield the common beginning, the blocks between, and the common end. A block may be empty."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    end, other_end = len(before) - tail, len(after) - tail
    yield Block(True, before[:head], after[:head])
    yield from _blocks_between(before[head:end], after[head:other_end], levels)
    yield Block(True, before[end:], after[other_end:])


def _blocks_between(before: Sequence[str], after: Sequence[str], levels: int) -> Iterator[Block]:
    """Yield the anchors and the blocks between them, or one replaced block if there are no anchors."""
    anchors = _anchors(before, after) if levels else []
    if not anchors:
        yield Block(False, before, after)
        return
    a = b = 0
    for c, d in anchors:
        yield from _blocks(before[a:c], after[b:d], levels - 1)
        yield Block(True, [before[c]], [after[d]])
        a, b = c + 1, d + 1
    yield from _blocks(before[a:], after[b:], levels - 1)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items at the beginning are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(one), len(other)))


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[Position]:
    """Return the positions of items that are unique on both sides, in the longest order that both share."""
    counts, others = Counter(before), Counter(after)
    positions = {item: position for position, item in enumerate(after)}
    pairs = [(position, positions[item]) for position, item in enumerate(before) if counts[item] == others[item] == 1]
    return _rising(pairs)


def _rising(pairs: Sequence[Position]) -> list[Position]:
    """Return the longest rising sequence by second position of pairs that are sorted by the first."""
    ends: list[int] = []  # by length, the smallest second position that ends a rising sequence
    last: list[int] = []  # and the number of that pair
    previous: list[int] = []
    for number, (_, position) in enumerate(pairs):
        length = bisect_left(ends, position)
        if length == len(ends):
            ends.append(position)
            last.append(number)
        ends[length], last[length] = position, number
        previous.append(last[length - 1] if length else -1)
    row, number = [], last[-1] if last else -1
    while number >= 0:
        row.append(pairs[number])
        number = previous[number]
    return row[::-1]
