import io
from tempfile import TemporaryFile
from typing import IO

_IN_MEMORY = 2**20


class Spool:
    """A buffer: up to 1 MiB is held in memory, more in an unnamed temporary file."""

    def __init__(self) -> None:
        self.size = 0
        self._file: IO[bytes] = io.BytesIO()

    def write(self, chunk: bytes) -> None:
        self.size += len(chunk)
        if self.size > _IN_MEMORY and isinstance(self._file, io.BytesIO):
            beginning = self._file.getvalue()
            self._file = TemporaryFile()  # noqa: SIM115 - `close` closes it
            self._file.write(beginning)
        self._file.write(chunk)

    @property
    def is_in_memory(self) -> bool:
        return isinstance(self._file, io.BytesIO)

    def content(self) -> bytes:
        return self.file().read()

    def file(self) -> IO[bytes]:
        """Return the file, positioned at its beginning."""
        self._file.seek(0)
        return self._file

    def close(self) -> None:
        self._file.close()
