"""Small files that expand to very much."""

import zlib

MIB = 2**20


def bomb(mebibytes: int, byte: bytes = b"\0", start: bytes = b"") -> bytes:
    """Gzip of `start` and then so many times this byte, with no end. One MiB is compressed and the others are as it is,
    for all of them would take a second."""
    packer = zlib.compressobj(9, wbits=31)
    begun = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    return begun + mebibytes * (packer.compress(byte * MIB) + packer.flush(zlib.Z_FULL_FLUSH))
