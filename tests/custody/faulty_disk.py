"""A failing disk: each call of a vault to the operating system can fail in turn."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_BY_PATH = ("open", "mkdir", "link", "unlink", "stat")
_BY_DESCRIPTOR = ("fsync", "close")


def _is_below(root: Path, path: Any, options: dict[str, Any]) -> bool:
    """Whether a call concerns a file of `root`, named by its path or by its directory's descriptor."""
    descriptor = options.get("dir_fd", options.get("src_dir_fd"))
    above = "" if descriptor is None else os.readlink(f"/proc/self/fd/{descriptor}")
    return os.path.join(above, path).startswith(str(root))


class FaultyDisk:
    """Counts the calls below `root` and lets one of them fail.

    Attributes:
        calls: the names of the calls made so far, in order.
    """

    def __init__(self, root: Path, fail_at: int | None, fault: Callable[[], None]) -> None:
        self.root, self.fail_at, self.fault = root, fail_at, fault
        self.calls: list[str] = []

    @property
    def failed(self) -> bool:
        return self.fail_at is not None and len(self.calls) > self.fail_at

    def wrap(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def by_path(path: Any, *args: Any, **options: Any) -> Any:
            if _is_below(self.root, path, options):
                self._call(name)
            return real(path, *args, **options)

        def by_descriptor(descriptor: int) -> None:
            if _is_below(self.root, "", {"dir_fd": descriptor}):
                if name == "close":
                    real(descriptor)  # a failed close still closes the descriptor
                    return self._call(name)
                self._call(name)
            return real(descriptor)

        return by_descriptor if name in _BY_DESCRIPTOR else by_path

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) - 1 == self.fail_at:
            self.fault()


@contextmanager
def faulty_disk(root: Path, fail_at: int | None = None, error: int = errno.EIO) -> Iterator[FaultyDisk]:
    """Let only call number `fail_at` (from 0) below `root` fail with `error`."""

    def fault() -> None:
        raise OSError(error, os.strerror(error))

    with _watched(FaultyDisk(root, fail_at, fault)) as disk:
        yield disk


@contextmanager
def disk_lost(root: Path, at: int, to: Path) -> Iterator[FaultyDisk]:
    """Let the disk at `root` be away from call number `at` on: it goes on as `to`, and an empty directory is in its
    place, as below a mount point."""

    def fault() -> None:
        root.rename(to)
        root.mkdir()

    with _watched(FaultyDisk(root, at, fault)) as disk:
        yield disk


@contextmanager
def _watched(disk: FaultyDisk) -> Iterator[FaultyDisk]:
    with pytest.MonkeyPatch.context() as patch:
        for name in (*_BY_PATH, *_BY_DESCRIPTOR):
            patch.setattr(os, name, disk.wrap(name, getattr(os, name)))
        yield disk


@contextmanager
def full_disk(root: Path) -> Iterator[None]:
    """Make every write to a new file below `root` meet a full disk: the kernel's own, `/dev/full`."""
    real = os.open

    def onto_the_full_device(path: Any, flags: int, *args: Any, **options: Any) -> int:
        full = flags & os.O_CREAT and _is_below(root, path, options)
        if full:
            os.close(real(path, flags, *args, **options))
            return real("/dev/full", os.O_WRONLY)
        return real(path, flags, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", onto_the_full_device)
        yield
