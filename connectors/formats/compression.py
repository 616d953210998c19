"""Bounded decompression: a small file can expand to a thousand times its size."""

import re
import zlib
from collections.abc import Iterable, Iterator

from config.errors import DomainError

_MAGIC = b"\x1f\x8b"
_PADDING = re.compile(rb"\0*+")
_CHUNK = 256 * 2**10
_MIN_AT_ONCE, _MAX_AT_ONCE = 512, 64 * 2**10
"""Compressed bytes per call, because zlib copies the bytes that it did not use."""
_FREE = 16 * 2**20
"""Expanded bytes that are allowed at any ratio."""
MAX_EXPANDED_BYTES = 4 * 2**30
MAX_RATIO = 200
"""JSON of many similar records expands about 50 times. Only a crafted file expands more than this."""


MAX_IDLE_BYTES = 64 * 2**20
"""Compressed bytes that expand to nothing, as empty members or padding do."""


class BadGzip(DomainError):
    """The compressed bytes are damaged, cut off, or expand too far."""

    code, status = "bad_gzip", 422


def expanded(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the bytes chunk by chunk, decompressed if they are gzip.

    Raises:
        BadGzip: after the chunks that came before the fault.
    """
    arriving = iter(chunks)
    start = b""
    while len(start) < len(_MAGIC):
        chunk = next(arriving, None)
        if chunk is None:
            break
        start += chunk
    everything = _chain(start, arriving)
    return _decompressed(everything) if start.startswith(_MAGIC) else everything


def _chain(start: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    if start:
        yield start
    yield from chunks


def _decompressed(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Decompress consecutive members as one text (RFC 1952, 2.2). Zeros after the last member are padding."""
    member, at_once = zlib.decompressobj(wbits=31), _MIN_AT_ONCE
    read = made = idle = 0
    for chunk in chunks:
        read += len(chunk)
        idle += len(chunk)
        if idle > MAX_IDLE_BYTES:
            raise BadGzip("It goes on and on, and expands to nothing.")
        pending, position = memoryview(chunk), 0
        while position < len(chunk):
            if member.eof:
                position = _PADDING.match(chunk, position).end()  # type: ignore[union-attr]
                if position == len(chunk):
                    break
                member, at_once = zlib.decompressobj(wbits=31), _MIN_AT_ONCE
            given = pending[position : position + at_once]
            try:
                piece = member.decompress(given, _CHUNK)
            except zlib.error:
                raise BadGzip("The compressed bytes are damaged.") from None
            position += len(given) - len(member.unused_data if member.eof else member.unconsumed_tail)
            at_once = min(2 * at_once, _MAX_AT_ONCE)
            made += len(piece)
            if made > MAX_EXPANDED_BYTES or made > _FREE + MAX_RATIO * read:
                raise BadGzip("It expands to more than 200 times its size, or to more than 4 GiB.")
            if piece:
                idle = 0
                yield piece
    while not member.eof:  # zlib may hold output back when the last piece filled a chunk
        piece = member.decompress(b"", _CHUNK)
        if not piece:
            raise BadGzip("The compressed bytes end too early.")
        yield piece
