"""What the things that sources hold are made of: one JSON object, one a line, or an array of them; each also as gzip.

Items come byte for byte as they stand. What is wrong with one is said of that one; the others come all the same.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal, NamedTuple

from config.errors import DomainError
from config.http.strict_json import MAX_BYTES
from connectors.formats.compression import BadGzip, expanded
from connectors.formats.pointers import values_at
from connectors.formats.scanner import BOM, TOO_LONG, WHITE_SPACE, Cut, array_items

__all__ = ["Format", "Item", "items", "items_at", "values_at"]

Format = Literal["auto", "json", "ndjson", "array", "opa"]
"""`json` is one object; `opa` is a decision log of Open Policy Agent, an array or one a line; `auto` looks."""

_LOOKED_AT = 64 * 2**10
_ROOM = MAX_BYTES + len(BOM) + 1
"""Bytes of a line or a document that are kept: whatever reaches it is too long."""
MAX_BARREN_BYTES = 64 * 2**20
"""Bytes in which no item ends, beyond which nothing more is read: an item is at most 1 MiB."""


class Barren(DomainError):
    """There are no items in what is read, and it does not end."""

    code, status = "barren", 422
    sentence = f"No item ends within {MAX_BARREN_BYTES // 2**20} MiB, so it was read no further."


class Item(NamedTuple):
    """One thing a source holds, byte for byte as it stands there: one JSON object, whether or not it is a record."""

    raw: bytes
    position: str
    """Where it stands in the source, for people: `2026/decisions.ndjson.gz, item 17`."""
    problem: str = ""
    """Why it can be no record, where the reader knows that already: then it goes to quarantine as it is."""
    origin: str = ""
    """The object or file that it stands in, as the ledger names it."""


def items(chunks: Iterable[bytes], format: Format, name: str, *, first: int = 1) -> Iterator[Item]:
    """What a file, an object or an answer holds.

    Args:
        chunks: its bytes, cut anywhere, perhaps as gzip.
        name: of the file or object, as the ledger has it and people know it.
        first: the number of the first item to give; those before it are passed over, which were read before.
    """
    number = 0
    fertile = _Fertile(expanded(chunks))
    try:
        for number, cut in enumerate(_cuts(fertile, format, name), start=1):
            fertile.barren = 0
            if number >= first:
                yield _item(cut, name, number)
    except (BadGzip, Barren) as fault:
        if number + 1 >= first:  # it is the last item
            yield Item(b"", name, problem=fault.sentence, origin=name)


class _Fertile:
    """Chunks, as long as items are found in them. Raises Barren."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.barren = 0
        """Bytes since the last item."""

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self.barren > MAX_BARREN_BYTES:
            raise Barren
        chunk = next(self._chunks)
        self.barren += len(chunk)
        return chunk


def items_at(document: bytes, pointer: str, name: str) -> Iterator[Item] | None:
    """The items of the array at a JSON pointer of a document; None if there is no array."""
    found = values_at(document, [pointer]).get(pointer)
    if found is None or not found.startswith(b"["):
        return None
    return (_item(cut, name, number) for number, cut in enumerate(array_items([found], longest=MAX_BYTES), start=1))


def _item(cut: Cut, name: str, number: int) -> Item:
    return Item(cut.raw, f"{name}, item {number}", problem=cut.problem, origin=name)


def _cuts(chunks: Iterator[bytes], format: Format, name: str) -> Iterator[Cut]:
    if format in ("auto", "opa"):
        start = _start(chunks)
        chunks = chain([start], chunks)
        format = _recognised(start, name)
    if format == "array":
        return array_items(chunks, longest=MAX_BYTES)
    return _lines(chunks) if format == "ndjson" else _document(chunks)


def _start(chunks: Iterator[bytes]) -> bytes:
    """As much as tells the format."""
    start = bytearray()
    for chunk in chunks:
        start += chunk
        if len(start) >= _LOOKED_AT:
            break
    return bytes(start)


def _recognised(start: bytes, name: str) -> Format:
    """An object may be spread over lines, and then its first line is no object; a name may say it, too."""
    text = start.removeprefix(BOM).lstrip(WHITE_SPACE)
    if text.startswith(b"["):
        return "array"
    line, end_of_line, _ = text.partition(b"\n")
    spread = end_of_line and not line.rstrip(WHITE_SPACE).endswith(b"}")
    named = name.lower().removesuffix(".gz").endswith((".ndjson", ".jsonl"))
    return "json" if spread and not named else "ndjson"


def _lines(chunks: Iterable[bytes]) -> Iterator[Cut]:
    """The lines that are not blank, each at most 1 MiB of it."""
    line, is_first = bytearray(), True
    for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if line or len(end) > MAX_BYTES or end.strip(WHITE_SPACE):
                line += end[: _ROOM - len(line)]
                yield from _line(line, is_first)
                line = bytearray()
            is_first = False
        line += rest[: _ROOM - len(line)]
    yield from _line(line, is_first)


def _line(line: bytearray, is_first: bool) -> Iterator[Cut]:
    raw = bytes(line.removeprefix(BOM) if is_first else line).strip(WHITE_SPACE)
    if len(line) == _ROOM or len(raw) > MAX_BYTES:  # of what did not fit, blanks may hide what comes after
        yield Cut(raw[:MAX_BYTES], TOO_LONG)
    elif raw:
        yield Cut(raw)


def _document(chunks: Iterable[bytes]) -> Iterator[Cut]:
    document = bytearray()
    for chunk in chunks:
        document += chunk[: _ROOM - len(document)]
        if len(document) == _ROOM:
            break
    return _line(document, True)
