"""Files of a folder, opened name by name from an allowed folder, so that no link leads out of it."""

import fnmatch
import os
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from django.conf import settings

from config.http.strict_json import MAX_BYTES
from connectors.kinds.base import MachineFault, Source, SourceFault
from connectors.kinds.faults import step
from connectors.kinds.named_items import Page, Stored

SETTLED_SECONDS = 5.0
"""A file modified more recently than this may still be written to."""
_CHUNK = 256 * 2**10
_GZIP = b"\x1f\x8b"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # opening a pipe would wait for its writer


class Folder(NamedTuple):
    """A folder that connectors may read: a folder that the operator allows, and the names that lead down from it."""

    allowed: str
    below: tuple[str, ...]


def allowed_folder(path: str) -> Folder | None:
    """Return the folder of a path, by its text alone; None if it is not below a folder of CONNECTOR_DIRECTORIES."""
    wanted = PurePosixPath(path)
    if not wanted.is_absolute() or ".." in wanted.parts or "\0" in path:
        return None
    for allowed in settings.CONNECTOR_DIRECTORIES:
        if wanted.is_relative_to(allowed):
            return Folder(allowed, wanted.relative_to(allowed).parts)
    return None


class Files:
    """A `Store` of the regular files in a folder."""

    can_start_after_a_name = True

    def __init__(self, source: Source[Any]) -> None:
        self._source = source
        self._pattern = source.config.pattern.split("/")

    def pages(self, start: str) -> Iterator[Page]:
        with step(self._source, "listed", "The folder was listed."), _readable(self._source), self._folder() as folder:
            matches = _matches(folder, self._pattern, "")
            things = sorted(thing for thing in matches if thing.name > start and self._is_open_to_us(thing.name))
        last = start
        for begin in range(0, len(things), 1000):
            page = things[begin : begin + 1000]
            yield Page(last, page)
            last = page[-1].name

    def chunks(self, thing: Stored) -> Iterable[bytes] | None:
        """Return the bytes of a file, or only the finished lines of a file that is still written to."""
        with step(self._source, "read", "A file was opened."):
            descriptor = self._open(thing.name)
        if descriptor is None:
            return None
        if not _is_young(thing):
            return _chunks(descriptor)
        if not self._has_lines(thing, descriptor):
            os.close(descriptor)
            return None
        return _whole_lines(_chunks(descriptor))

    def is_finished(self, thing: Stored) -> bool:
        now = self._status(thing.name)
        return now is not None and now.version == thing.version and not _is_young(thing)

    def _has_lines(self, thing: Stored, descriptor: int) -> bool:
        """Whether the file has lines that can be read while the file still grows."""
        if os.pread(descriptor, len(_GZIP), 0) == _GZIP:
            return False
        named = thing.name.lower().endswith((".ndjson", ".jsonl"))
        return self._source.config.format == "ndjson" or (self._source.config.format in ("auto", "opa") and named)

    def _status(self, name: str) -> Stored | None:
        descriptor = self._open(name)
        if descriptor is None:
            return None
        try:
            return _stored(name, os.fstat(descriptor))
        finally:
            os.close(descriptor)

    def _open(self, name: str) -> int | None:
        """Return the descriptor of a regular file, or None if there is no such file."""
        *folders, last = name.split("/")
        try:
            with self._folder() as folder, _opened(folder, folders) as parent:
                if not stat.S_ISREG(os.stat(last, dir_fd=parent, follow_symlinks=False).st_mode):
                    return None
                descriptor = os.open(last, _FILE, dir_fd=parent)
        except PermissionError:
            raise SourceFault(
                f"The service may not read {name}.", fix="Let the user that the service runs as read it."
            ) from None
        except OSError:  # since the listing, the file was moved or became a link
            return None
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        return None

    def _is_open_to_us(self, name: str) -> bool:
        """Whether this organization may read a file.

        A folder that is named with an organization's id and directly below an allowed folder belongs to that
        organization. Allowed folders may be nested or linked, so the path from each of them is checked.
        """
        if self._real_folder is None:
            return False
        file = self._real_folder / name
        paths = (file.relative_to(allowed).parts for allowed in self._allowed if file.is_relative_to(allowed))
        return not any(len(path) > 1 and self._is_of_others(path[0]) for path in paths)

    def _is_of_others(self, folder: str) -> bool:
        try:
            return uuid.UUID(folder) != self._source.organization_id
        except ValueError:
            return False

    @cached_property
    def _allowed(self) -> list[str]:
        return [os.path.realpath(allowed) for allowed in settings.CONNECTOR_DIRECTORIES]

    @cached_property
    def _real_folder(self) -> PurePosixPath | None:
        """Return the real path of the folder. Only the allowed folder itself may contain links."""
        folder = allowed_folder(self._source.config.path)
        return folder and PurePosixPath(os.path.realpath(folder.allowed), *folder.below)

    @contextmanager
    def _folder(self) -> Iterator[int]:
        target = allowed_folder(self._source.config.path)
        if target is None or not self._is_open_to_us("any"):
            raise SourceFault(
                "Connectors may not read this folder.",
                fix="Name a folder below one of CONNECTOR_DIRECTORIES, or have it added there.",
            )
        root = _opened_root(target.allowed)
        try:
            with _opened(root, target.below) as folder:
                yield folder
        finally:
            os.close(root)


def _opened_root(allowed: str) -> int:
    """Open an allowed folder. The operator named it, so a machine where that fails lacks a mount or a permission."""
    try:
        return os.open(allowed, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise MachineFault(
            "The machine that polled cannot open the folder of CONNECTOR_DIRECTORIES.",
            fix="Ask the operator of this service to mount it there, and to let the service read it.",
            because=os.strerror(error.errno or 0),
        ) from None


@contextmanager
def _opened(folder: int, names: Iterable[str]) -> Iterator[int]:
    """Open the folder that the names lead to, without following links."""
    current = os.dup(folder)
    try:
        for name in names:
            below = os.open(name, _FOLDER, dir_fd=current)
            os.close(current)
            current = below
        yield current
    finally:
        os.close(current)


@contextmanager
def _readable(source: Source[Any]) -> Iterator[None]:
    """Raise a fault for a folder that cannot be read: the machine's, if the connector has read its folder before."""
    fault = MachineFault if source.was_read else SourceFault
    try:
        yield
    except PermissionError:
        raise fault(
            "The service may not read this folder.", fix="Let the user that the service runs as read and enter it."
        ) from None
    except OSError as error:
        raise fault(
            "There is no such folder, or its path contains a link.",
            fix="Check the path. It must be a real folder on each machine that polls.",
            because=os.strerror(error.errno or 0),
        ) from None


def _matches(folder: int, pattern: list[str], way: str) -> Iterator[Stored]:
    """Yield the regular files below a folder that match the pattern."""
    first, *below_pattern = pattern
    with os.scandir(folder) as entries:
        for entry in entries:
            if not fnmatch.fnmatchcase(entry.name, first) or not _is_utf8(entry.name):
                continue
            if not below_pattern and entry.is_file(follow_symlinks=False):
                yield _stored(way + entry.name, entry.stat(follow_symlinks=False))
            elif below_pattern and entry.is_dir(follow_symlinks=False):
                with _opened(folder, [entry.name]) as below:
                    yield from _matches(below, below_pattern, f"{way}{entry.name}/")


def _stored(name: str, status: os.stat_result) -> Stored:
    return Stored(name, f"{status.st_size}-{status.st_mtime_ns}-{status.st_ino}", status.st_mtime)


def _is_utf8(name: str) -> bool:
    """Whether a name is UTF-8, which the database requires."""
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _is_young(thing: Stored) -> bool:
    return abs(time.time() - thing.modified) < SETTLED_SECONDS


def _chunks(descriptor: int) -> Iterator[bytes]:
    with open(descriptor, "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def _whole_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield all lines but an unfinished last line, unless that is already too long."""
    line = bytearray()
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield bytes(line) + chunk[:end]
            line.clear()
        line += chunk[end:]
        if len(line) > MAX_BYTES:
            yield bytes(line)
            line.clear()
