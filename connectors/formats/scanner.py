"""A scanner that cuts JSON values out of a text by byte offsets, so that values keep their exact bytes.

It looks at brackets and strings only. The reader of a value checks whether it is valid JSON.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
# `(?!)` matches nowhere. Without it, Python before 3.11.5 does not undo a partly matched repetition of a possessive
# group (github.com/python/cpython/issues/106052).
# linear: `match` starts at one position, and possessive groups do not backtrack
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|%s|(?!))*+' % _STRING, re.DOTALL)
# linear: the same
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|%s|(?!))*+' % _STRING, re.DOTALL)
_REST_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_QUOTE, _COMMA = ord('"'), ord(",")
_OPENING, _CLOSING = b"[{", b"]}"
WHITE_SPACE = b" \t\r\n"
BOM = b"\xef\xbb\xbf"
_MAX_WHITE_SPACE = 64 * 2**10  # bytes around an item; with more, the item counts as too long


class Scanner:
    """A search for the commas and brackets of one level, in chunks cut anywhere.

    It reads each byte once, or twice within a string that ends in a later chunk, so the time is linear.
    """

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False

    def next(self, buffer: bytes | bytearray, position: int) -> tuple[int, int | None]:
        """Find the next comma of the level, or the next bracket.

        Returns:
            The position and the byte. If the buffer ends first, the position to continue at and None.
        """
        while True:
            if self._in_string:
                position = _REST_OF_STRING.match(buffer, position).end()  # type: ignore[union-attr]
                if position == len(buffer) or buffer[position] != _QUOTE:
                    return position, None  # at the end, or before a backslash whose character is in the next chunk
                position, self._in_string = position + 1, False
            pattern = _WITHIN if self.depth else _BETWEEN
            position = pattern.match(buffer, position).end()  # type: ignore[union-attr]
            if position == len(buffer):
                return position, None
            if buffer[position] != _QUOTE:
                return position, buffer[position]
            position, self._in_string = position + 1, True


class Cut(NamedTuple):
    """A value cut out of a longer text."""

    raw: bytes
    problem: str = ""
    """Why the value cannot be a record, if that shows already. Then `raw` may be only a part of the value."""


TOO_LONG = "It is larger than 1 MiB."
NO_ARRAY = "Not a JSON array: it does not begin with a bracket."
NO_END = "The array ends without its closing bracket."
MORE = "Something follows the closing bracket of the array."


def array_items(chunks: Iterable[bytes], *, longest: int) -> Iterator[Cut]:
    """Yield the items of a JSON array with their exact bytes, without the white space around them.

    An invalid item comes with its problem, so that no item is dropped silently.

    Args:
        chunks: the text, cut anywhere.
        longest: bytes kept of an item; the remainder of a longer item is skipped.
    """
    return _ArrayCutter(longest).items(chunks)


class _ArrayCutter:
    """A cutter that buffers the unfinished item and scans each byte once."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._scanner = Scanner()
        self._buffer = bytearray()
        self._begin = self._position = 0
        self._head: bytes | None = None
        self._is_first = True

    def items(self, chunks: Iterable[bytes]) -> Iterator[Cut]:
        arriving = iter(chunks)
        if not self._find_beginning(arriving):
            if self._buffer.strip(WHITE_SPACE):
                yield Cut(bytes(self._buffer[: self._longest]), NO_ARRAY)
            return
        while True:
            yield from self._finished_items()
            if self._scanner.depth < 0:
                break
            self._forget_what_is_done()
            chunk = next(arriving, None)
            if chunk is None:
                yield Cut(self._cut(len(self._buffer)).raw, NO_END)
                return
            self._buffer += chunk
        yield from self._after_the_end(arriving)

    def _find_beginning(self, arriving: Iterator[bytes]) -> bool:
        for chunk in arriving:
            self._buffer += chunk
            if self._buffer.startswith(BOM):
                del self._buffer[: len(BOM)]
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip(WHITE_SPACE))]
            if self._buffer and not BOM.startswith(self._buffer):
                break
        self._begin = self._position = 1
        return self._buffer[:1] == b"["

    def _finished_items(self) -> Iterator[Cut]:
        while True:
            self._position, byte = self._scanner.next(self._buffer, self._position)
            if byte is None:
                return
            end, self._position = self._position, self._position + 1
            if byte in _OPENING:
                self._scanner.depth += 1
            elif byte in _CLOSING:
                self._scanner.depth -= 1
            if byte == _COMMA or self._scanner.depth < 0:
                item = self._cut(end)
                if item.raw or byte == _COMMA or not self._is_first:
                    yield item
                self._is_first, self._begin, self._head = False, self._position, None
            if self._scanner.depth < 0:
                return

    def _cut(self, end: int) -> Cut:
        if self._head is not None:
            return Cut(self._head, TOO_LONG)
        raw = bytes(self._buffer[self._begin : end].strip(WHITE_SPACE))
        return Cut(raw) if len(raw) <= self._longest else Cut(raw[: self._longest], TOO_LONG)

    def _forget_what_is_done(self) -> None:
        if self._head is None and self._position - self._begin > self._longest + _MAX_WHITE_SPACE:
            self._head = bytes(self._buffer[self._begin :].lstrip(WHITE_SPACE)[: self._longest])
        if self._head is not None:
            self._begin = self._position
        if self._begin:
            del self._buffer[: self._begin]
            self._position -= self._begin
            self._begin = 0

    def _after_the_end(self, arriving: Iterator[bytes]) -> Iterator[Cut]:
        tail = self._buffer[self._position :].lstrip(WHITE_SPACE)
        for chunk in arriving:
            tail = (tail + chunk[: self._longest - len(tail)]).lstrip(WHITE_SPACE)
        if tail:
            yield Cut(bytes(tail[: self._longest].rstrip(WHITE_SPACE)), MORE)
