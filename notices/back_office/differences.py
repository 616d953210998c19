"""What differs between two lists of lines or words, in time linear in their length but for its logarithm.

`difflib` takes the square of it and, where much is repeated, the cube. This is B. Cohen's patience diff: what is there
once on both sides is matched first, in the longest order that both share, and then what lies between by the same rule.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_LEVELS = 10  # of parts between matches: what is not told apart by then is shown as replaced


class Block(NamedTuple):
    """A part of both lists: the same in both, or one in place of the other."""

    is_same: bool
    before: Sequence[str]
    after: Sequence[str]


def differences(before: Sequence[str], after: Sequence[str]) -> Iterator[Block]:
    """The blocks that make up both lists, in order; same and changed ones alternate."""
    start, end = (0, 0), (len(before), len(after))
    a, b = start
    for c, d, size in [*_matches(before, after, start, end, _LEVELS), (*end, 0)]:
        if (a, b) != (c, d):
            yield Block(False, before[a:c], after[b:d])
        a, b = c + size, d + size
        if size:
            yield Block(True, before[c:a], after[d:b])


Position = tuple[int, int]


def _matches(
    before: Sequence[str], after: Sequence[str], start: Position, end: Position, levels: int
) -> list[tuple[int, int, int]]:
    """Runs that are the same on both sides, each as its position in either and its length, between two positions."""
    found: list[tuple[int, int, int]] = []

    def add(a: int, b: int, size: int) -> None:
        if found:
            before_it, after_it, length = found[-1]
            if (a, b) == (before_it + length, after_it + length):  # it goes on
                found[-1] = (before_it, after_it, length + size)
                return
        if size:
            found.append((a, b, size))

    (a, b), (c, d) = start, end
    head = _common(before[a:c], after[b:d])
    add(a, b, head)
    a, b = a + head, b + head
    tail = _common(before[a:c][::-1], after[b:d][::-1])
    c, d = c - tail, d - tail
    if levels:
        anchors = _anchors(before, after, (a, b), (c, d))
        for e, f in [*anchors, (c, d)] if anchors else []:
            for match in _matches(before, after, (a, b), (e, f), levels - 1):
                add(*match)
            if (e, f) != (c, d):
                add(e, f, 1)
            a, b = e + 1, f + 1
    add(c, d, tail)
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items are the same at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(one), len(other)))


def _anchors(before: Sequence[str], after: Sequence[str], start: Position, end: Position) -> list[Position]:
    """What is there once on both sides, as many of it as stand in the same order."""
    (a, b), (c, d) = start, end
    counts, others = Counter(before[a:c]), Counter(after[b:d])
    where = {item: position for position, item in enumerate(after[b:d], start=b)}
    pairs = [
        (position, where[item])
        for position, item in enumerate(before[a:c], start=a)
        if counts[item] == others[item] == 1
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[Position]) -> list[Position]:
    """The longest part of pairs in rising order of both positions, when they are in that of the first."""
    ends: list[int] = []  # the smallest second position at which a rising row of each length can end
    last: list[int] = []  # and which pair that is
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
