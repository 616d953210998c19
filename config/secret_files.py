"""Secret files under DATA_DIR, readable only by their owner."""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

from config.errors import Fault


class InsecureKeyFile(Fault):
    """A key file can be read by users other than its owner."""

    status = 503
    sentence = "The service's keys are not protected as they must be. An administrator must fix their file permissions."


def read_or_create(path: Path, make: bytes) -> bytes:
    """Return the content of a secret file. Create it with the content `make` if it is missing.

    Several processes may call this at once: `link` lets exactly one content win, and all return it.

    Raises:
        InsecureKeyFile: the file's permissions are wider than 0600.
        OSError: the directory cannot be written or the file cannot be read.
    """
    if not path.exists():
        _create(path, make)
    return read(path)


def read(path: Path) -> bytes:
    """Return the content of an existing secret file. Raises like `read_or_create`, and FileNotFoundError."""
    if path.stat().st_mode & 0o077:
        raise InsecureKeyFile(f"{path} can be read by others: run chmod 600 {path}")
    return path.read_bytes()


def replace(path: Path, content: bytes) -> None:
    """Replace the content of a secret file atomically. Raises OSError."""
    with _written(path, os.replace) as file:
        file.write(content)


def creating(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a new secret file for writing. It gets its name once it is complete, and is removed if writing fails.

    Raises:
        FileExistsError
        OSError: as for `read_or_create`.
    """
    return _written(path, os.link)


def _create(path: Path, content: bytes) -> None:
    for directory in (
        path.parent.parent,
        path.parent,
    ):  # `parents=True` would create the upper one with the umask's mode
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Another process may be first: then its content counts.
    with contextlib.suppress(FileExistsError), creating(path) as file:
        file.write(content)


@contextlib.contextmanager
def _written(path: Path, give_name: Callable[[Path, Path], None]) -> Iterator[IO[bytes]]:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        give_name(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    fsync_directory(path.parent)


def fsync_directory(directory: Path) -> None:
    """Make a new name in `directory` survive a power failure."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
