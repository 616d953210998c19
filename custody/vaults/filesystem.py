import os
import re
import secrets
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from django.conf import settings

from config.secret_files import fsync_directory
from custody.models import Installation, StorageTarget
from custody.vaults import PROBE_BYTES, ObjectMissing, Remains, VaultNotMarked, VaultOfAnother, VaultUnavailable

MARKER = "MARKER"
_KEY = re.compile(r"[0-9a-z]+(/[0-9a-z]+)+")
_DRAFT_PREFIX = ".draft-"
_DRAFT_SECONDS = 3600  # far longer than any put
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class FilesystemVault:
    """Files in sharded directories below the target's `root`, by default DATA_DIR/vault. A file is one object.

    An object appears by `link`, which is atomic and never replaces. File and directory entry are synced to disk before
    `put_new` returns, also when an earlier call, which never answered, has created it.

    Only `mark` creates the root. All other work opens it, checks this installation's marker in it, and reaches files by
    that descriptor: work that begins on the marked disk ends there, whatever is mounted or unmounted meanwhile.

    The owner of a file can lift any lock, so there are none: `retain_until` has no effect here.
    """

    transactional = False
    parallel_puts = 2
    compares_checksums = False
    may_lock = immutable = False

    def __init__(self, target: StorageTarget) -> None:
        self.root = Path(target.configuration.get("root", settings.DATA_DIR / "vault"))
        self.installation: uuid.UUID | None = None

    def identify(self) -> None:
        if self.installation is None:
            self.installation = Installation.objects.values_list("uid", flat=True).first()

    def mark(self, installation: uuid.UUID) -> None:
        """Create the root if it is missing, and put this installation's marker, replacing any other."""
        draft = self.root / f"{_DRAFT_PREFIX}{MARKER}-{secrets.token_hex(4)}"
        self.root.mkdir(mode=0o700, exist_ok=True)
        _write(os.open(draft, _NEW_FILE, 0o600), _marker_of(installation))
        draft.rename(self.root / MARKER)
        fsync_directory(self.root)
        fsync_directory(self.root.parent)

    def require_marker(self) -> None:
        """Raise unless the root has this installation's marker.

        Raises:
            VaultNotMarked, VaultOfAnother, VaultUnavailable
        """
        with self._marked_root("read"):
            pass

    def put_new(self, key: str, body: bytes, *, retain_until: datetime | None = None, lockable: bool = True) -> bool:
        directory, _, name = _checked(key).rpartition("/")
        draft = f"{directory}/{_DRAFT_PREFIX}{name}-{secrets.token_hex(4)}"
        with self._marked_root("write") as root:
            _make_directories(directory, root)
            try:
                _write(os.open(draft, _NEW_FILE, 0o600, dir_fd=root), body)
                created = _link(draft, key, root)
            finally:
                _unlink(draft, root)
            _fsync(directory, root)
        return created

    def get(self, key: str) -> bytes:
        _checked(key)
        with self._marked_root("read") as root:
            try:
                return _read(key, root)
            except FileNotFoundError:
                raise ObjectMissing(because=key) from None

    def has(self, key: str) -> bool:
        _checked(key)
        with self._marked_root("read") as root:
            return _exists(key, root)

    def delete(self, key: str) -> None:
        """Remove the object, and the drafts of it that unfinished puts have left."""
        directory, _, name = _checked(key).rpartition("/")
        with self._marked_root("delete") as root:
            if not _exists(directory, root):
                return
            _unlink(key, root)
            for draft in _names(directory, root):
                if draft.startswith(f"{_DRAFT_PREFIX}{name}-"):
                    _unlink(f"{directory}/{draft}", root)
            _fsync(directory, root)

    def erase(self, key: str) -> Remains:
        self.delete(key)
        return Remains()

    def list(self, prefix: str) -> Iterator[str]:
        with self._marked_root("list") as root:
            if not _exists(prefix, root):
                return
            for directory, _, names, _ in os.fwalk(prefix, onerror=_raise, dir_fd=root):
                yield from (f"{directory.rstrip('/')}/{name}" for name in names if not name.startswith("."))

    def discard_drafts(self) -> None:
        oldest = time.time() - _DRAFT_SECONDS
        with self._marked_root("list") as root:
            for _, _, names, directory in os.fwalk(".", onerror=_raise, dir_fd=root):
                for draft in (name for name in names if name.startswith(_DRAFT_PREFIX)):
                    with suppress(FileNotFoundError):
                        if os.stat(draft, dir_fd=directory).st_mtime < oldest:
                            _unlink(draft, directory)

    def probe(self) -> None:
        draft = f"{_DRAFT_PREFIX}probe-{secrets.token_hex(4)}"
        with self._marked_root("write") as root:
            opened = os.open(draft, _NEW_FILE, 0o600, dir_fd=root)
            _unlink(draft, root)  # before the write, so that a killed process leaves nothing
            _write(opened, os.urandom(PROBE_BYTES))

    @contextmanager
    def _marked_root(self, use: str) -> Iterator[int]:
        """Yield the root's descriptor, after checking this installation's marker through it."""
        try:
            root = _open_root(self.root)
            try:
                self._require_marker(root)
                yield root
            finally:
                os.close(root)
        except OSError as error:
            raise VaultUnavailable(because=f"the filesystem vault cannot {use} ({error.strerror})") from error

    def _require_marker(self, root: int) -> None:
        try:
            content = _read(MARKER, root)
        except FileNotFoundError:
            raise VaultNotMarked(because="the filesystem vault has no marker") from None
        if self.installation is None or content != _marker_of(self.installation):
            raise VaultOfAnother(because="the filesystem vault's marker is another installation's")


def _marker_of(installation: uuid.UUID) -> bytes:
    return f"This is the vault of the decision-record service's installation {installation}.\n".encode()


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError("a vault key is made of lowercase letters, digits and slashes")
    return key


def _open_root(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise VaultNotMarked(because="the filesystem vault's directory is gone") from None


def _make_directories(directory: str, root: int) -> None:
    """Create a shard and make its name durable: a power cut can lose an unsynced directory with its synced files."""
    if _exists(directory, root):
        return
    parent = directory.rpartition("/")[0]
    if parent:
        _make_directories(parent, root)
    with suppress(FileExistsError):
        os.mkdir(directory, 0o700, dir_fd=root)
    _fsync(parent or ".", root)


def _exists(path: str, root: int) -> bool:
    try:
        os.stat(path, dir_fd=root)
    except FileNotFoundError:
        return False
    return True


def _read(path: str, root: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=root)  # a pipe in a file's place must not block
    try:
        return b"".join(iter(lambda: os.read(descriptor, 2**20), b""))
    finally:
        os.close(descriptor)


def _write(descriptor: int, body: bytes) -> None:
    with open(descriptor, "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _link(draft: str, path: str, root: int) -> bool:
    try:
        os.link(draft, path, src_dir_fd=root, dst_dir_fd=root)
    except FileExistsError:
        return False
    return True


def _names(directory: str, root: int) -> list[str]:
    descriptor = os.open(directory, os.O_RDONLY, dir_fd=root)
    try:
        return os.listdir(descriptor)
    finally:
        os.close(descriptor)


def _unlink(path: str, root: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path, dir_fd=root)


def _fsync(directory: str, root: int) -> None:
    descriptor = os.open(directory, os.O_RDONLY, dir_fd=root)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error
