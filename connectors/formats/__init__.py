"""Formats of source data: one JSON object, one object per line, or an array of objects, each optionally gzipped.

Items keep their exact bytes. A bad item carries its problem and does not stop the others.
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
"""`json` is one object; `opa` is an Open Policy Agent decision log, as an array or lines; `auto` detects the format."""

_LOOKED_AT = 64 * 2**10
_ROOM = MAX_BYTES + len(BOM) + 1
"""Bytes kept of a line or a document. With so many bytes it is too long."""
MAX_BARREN_BYTES = 64 * 2**20
"""Reading stops after so many bytes without the end of an item. An item has at most 1 MiB."""


class Barren(DomainError):
    """The data goes on without any items."""

    code, status = "barren", 422
    sentence = f"No item ends within {MAX_BARREN_BYTES // 2**20} MiB, so it was read no further."


class Item(NamedTuple):
    """The exact bytes of one JSON object in a source, whether or not it is a valid record."""

    raw: bytes
    position: str
    """The position in the source, for people: `2026/decisions.ndjson.gz, item 17`."""
    problem: str = ""
    """Why the item cannot be a record, if the reader already knows. Such an item goes to quarantine."""
    origin: str = ""
    """The object or file that holds the item, as the ledger names it."""


def items(chunks: Iterable[bytes], format: Format, name: str, *, first: int = 1) -> Iterator[Item]:
    """Yield the items of a file, an object or a response.

    Args:
        chunks: the bytes, cut anywhere, possibly gzipped.
        name: the file or object, as the ledger and people name it.
        first: the number of the first item to yield. Earlier items are skipped.
    """
    number = 0
    fertile = _Fertile(expanded(chunks))
    try:
        for number, cut in enumerate(_cuts(fertile, format, name), start=1):
            fertile.barren = 0
            if number >= first:
                yield _item(cut, name, number)
    except (BadGzip, Barren) as fault:
        if number + 1 >= first:  # the fault is reported as the last item
            yield Item(b"", name, problem=fault.sentence, origin=name)


class _Fertile:
    """Chunks of data, until Barren is raised because they contain no items."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self.barren = 0
        """Bytes since the end of the last item."""

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self.barren > MAX_BARREN_BYTES:
            raise Barren
        chunk = next(self._chunks)
        self.barren += len(chunk)
        return chunk


def items_at(document: bytes, pointer: str, name: str) -> Iterator[Item] | None:
    """Return the items of the array at a JSON pointer, or None if there is no array."""
    array = values_at(document, [pointer]).get(pointer)
    if array is None or not array.startswith(b"["):
        return None
    return (_item(cut, name, number) for number, cut in enumerate(array_items([array], longest=MAX_BYTES), start=1))


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
    """Read enough of the data to detect its format."""
    start = bytearray()
    for chunk in chunks:
        start += chunk
        if len(start) >= _LOOKED_AT:
            break
    return bytes(start)


def _recognised(start: bytes, name: str) -> Format:
    """Detect the format. An object may span lines, so a first line without a closing brace means `json`."""
    text = start.removeprefix(BOM).lstrip(WHITE_SPACE)
    if text.startswith(b"["):
        return "array"
    line, end_of_line, _ = text.partition(b"\n")
    is_spread = end_of_line and not line.rstrip(WHITE_SPACE).endswith(b"}")
    has_line_suffix = name.lower().removesuffix(".gz").endswith((".ndjson", ".jsonl"))
    return "json" if is_spread and not has_line_suffix else "ndjson"


def _lines(chunks: Iterable[bytes]) -> Iterator[Cut]:
    """Yield the lines that are not blank, each cut to 1 MiB."""
    line, is_first = bytearray(), True
    for chunk in chunks:
        *ends, tail = chunk.split(b"\n")
        for end in ends:
            if line or len(end) > MAX_BYTES or end.strip(WHITE_SPACE):
                line += end[: _ROOM - len(line)]
                yield from _line(line, is_first)
                line = bytearray()
            is_first = False
        line += tail[: _ROOM - len(line)]
    yield from _line(line, is_first)


def _line(line: bytearray, is_first: bool) -> Iterator[Cut]:
    raw = bytes(line.removeprefix(BOM) if is_first else line).strip(WHITE_SPACE)
    if len(line) == _ROOM or len(raw) > MAX_BYTES:  # trailing blanks may have pushed more data out of the room
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
