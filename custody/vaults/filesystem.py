import os
import re
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from config.secret_files import fsync_directory
from custody.vaults import ObjectMissing, VaultUnavailable

_KEY = re.compile(r"[0-9a-z]+(/[0-9a-z]+)+")
_DRAFT_PREFIX = ".draft-"
_DRAFT_SECONDS = 3600  # far longer than any put takes


class FilesystemVault:
    """Files below DATA_DIR/vault, one an object, in sharded directories.

    An object appears by `link`, which is atomic and never replaces; it is on disk (file and directory entry synced)
    before `put_new` returns, whether this call or an earlier one that never answered created it.
    """

    transactional = False

    def __init__(self, root: Path | None = None) -> None:
        self.root: Path = root or settings.DATA_DIR / "vault"
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def put_new(self, key: str, body: bytes) -> bool:
        path = self._path(key)
        draft = path.with_name(f"{_DRAFT_PREFIX}{path.name}-{secrets.token_hex(4)}")
        try:
            self._make_directory(path.parent)
            try:
                self._write(draft, body)
                created = self._link(draft, path)
            finally:
                draft.unlink(missing_ok=True)
            fsync_directory(path.parent)
        except OSError as error:
            raise VaultUnavailable(f"the filesystem vault cannot write ({error.strerror})") from error
        return created

    def get(self, key: str) -> bytes:
        try:
            return self._path(key).read_bytes()
        except FileNotFoundError:
            if not self.root.is_dir():
                raise VaultUnavailable("the filesystem vault's directory is gone") from None
            raise ObjectMissing(key) from None
        except OSError as error:
            raise VaultUnavailable(f"the filesystem vault cannot read ({error.strerror})") from error

    def delete(self, key: str) -> None:
        path = self._path(key)
        try:
            path.unlink(missing_ok=True)
            if path.parent.is_dir():
                fsync_directory(path.parent)
        except OSError as error:
            raise VaultUnavailable(f"the filesystem vault cannot delete ({error.strerror})") from error

    def list(self, prefix: str) -> Iterator[str]:
        for directory, _, files in os.walk(self.root / prefix):
            for name in files:
                if not name.startswith("."):
                    yield str((Path(directory) / name).relative_to(self.root))

    def discard_drafts(self) -> None:
        oldest = time.time() - _DRAFT_SECONDS
        for draft in self.root.rglob(f"{_DRAFT_PREFIX}*"):
            if draft.stat().st_mtime < oldest:
                draft.unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        if not _KEY.fullmatch(key):
            raise ValueError("a vault key is made of lowercase letters, digits and slashes")
        return self.root / key

    def _make_directory(self, directory: Path) -> None:
        """Create a shard and make its name durable: a synced file in a directory that a power cut forgets is lost."""
        if directory.is_dir():
            return
        self._make_directory(directory.parent)
        directory.mkdir(mode=0o700, exist_ok=True)
        fsync_directory(directory.parent)

    @staticmethod
    def _link(draft: Path, path: Path) -> bool:
        try:
            os.link(draft, path)
        except FileExistsError:
            return False
        return True

    @staticmethod
    def _write(path: Path, body: bytes) -> None:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
