"""What the vaults in customers' clouds have in common."""

import math
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Lock, local
from typing import Any, ClassVar, NamedTuple, cast

import requests
import structlog
import urllib3
from django.utils import timezone

from config.errors import DomainError
from config.vetted_http import Connections, TooSlow
from custody import clouds
from custody.clouds.locks import Locks, Version
from custody.clouds.slow_uses import SlowUses, patience
from custody.models import Installation, StorageTarget
from custody.vaults import Left, ObjectMissing, VaultNotMarked, VaultOfAnother, VaultUnavailable

log = structlog.get_logger("custody")

MARKER = "MARKER"
_REQUEST_SECONDS = 10.0
USE_SECONDS = 30.0
"""After so long a use sends no more requests, but for a list: a cloud may have it turn pages without end."""
_VETTED_SECONDS = 60.0
ANSWER_BYTES = 16 * 2**20

MARKED_SECONDS = 1.0
"""How long a marker that was seen is taken for being there. Each look costs a request."""
FAILING_SECONDS = 5.0
"""After a look at the marker that failed, until the next one."""
_SECRET_SECONDS = 1.0
_LOCKS_SECONDS = 600.0
_ROUNDS = 4
"""After which a removal gives up, because others put the same object again and again."""
_SOONEST_LOCK = timedelta(minutes=1)
"""A lock that would end earlier is none: what is over by the time it arrives, clouds refuse."""
_EARLY_SECONDS = 600.0
"""Before their end, credentials that end are replaced; for as long the old ones serve if there are no others."""


_BROKEN = (DomainError, requests.RequestException, urllib3.exceptions.HTTPError)


class Signed(NamedTuple):
    """A client, and by `time.monotonic()` until when its credentials are good."""

    client: Any
    good_until: float = math.inf


class CloudVault(ABC):
    """Objects of a bucket below the target's `prefix`, which begins with this installation's marker.

    The marker is put when the target is chosen and by nothing else. Where it is missing or another's, nothing is put or
    read: the bucket was emptied, or made anew by somebody else.

    Nothing is tried again: what calls knows when to. One client serves all threads, over connections that are kept
    open. It is made anew when the secret changes, and before its credentials end.
    """

    transactional = False
    parallel_puts = 8
    compares_checksums = True
    may_lock = True

    errors: ClassVar[tuple[type[Exception], ...]]
    """What the cloud's library raises."""

    def __init__(self, target: StorageTarget) -> None:
        """Raises VaultUnavailable: the target's configuration is no good, as after a change by hand."""
        try:
            self.configuration = cast(Any, clouds.checked(target.provider, target.configuration))
        except clouds.ConfigurationRefused as error:
            raise VaultUnavailable(because=f"the configuration of target {target.pk} is refused: {error}") from None
        self.organization_id = cast(uuid.UUID, target.organization_id)
        self.installation: uuid.UUID | None = None
        self.connections = Connections(
            request_seconds=_REQUEST_SECONDS,
            answer_bytes=ANSWER_BYTES,
            vetted_seconds=_VETTED_SECONDS,
            guard=self._guard,
        )
        prefix = self.configuration.prefix.strip("/")
        self._prefix = f"{prefix}/" if prefix else ""
        self._marked_until = self._failing_until = self._locks_until = self._secret_until = -math.inf
        self._failure: VaultUnavailable | None = None
        self._secret: str | None = None
        self._signed: Signed | None = None
        self._locks = Locks(of_objects=False, of_all=False)
        self._lock, self._marker_lock = Lock(), Lock()
        self._slow: dict[str, Lock] = {}
        self._this_use = local()
        self._slow_uses = SlowUses()

    # ── what each cloud does its way; a path is a key below the prefix ──

    @abstractmethod
    def sign_in(self, secret: str) -> Signed:
        """A client that acts under the credentials of the configuration."""

    @abstractmethod
    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        """Whether there was no object; if there was, nothing changes. The cloud compares a checksum of the body."""

    @abstractmethod
    def read(self, path: str, version: str = "") -> bytes | None:
        """None if there is no such object, version or bucket."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """False also if there is no such bucket."""

    @abstractmethod
    def versions(self, path: str) -> Iterator[Version]:
        """Every version of an object, removed ones too that the cloud can bring back."""

    @abstractmethod
    def remove(self, path: str, version: Version) -> None:
        """One that is gone is no error."""

    def purge(self, path: str, version: str) -> bool:
        """Whether a version that was removed cannot be brought back any more, because of this call."""
        return False

    @abstractmethod
    def is_refusal(self, error: Exception) -> bool:
        """Whether one of `errors` may mean that the object is locked. So may one that says that we lack a permission:
        not every cloud tells the two apart."""

    def lock_ends(self, path: str, version: Version) -> datetime | None:
        """None where nobody says."""
        return version.kept_until

    @abstractmethod
    def names(self, prefix: str) -> Iterator[str]:
        """The paths of all objects below, page by page."""

    @abstractmethod
    def find_locks(self) -> Locks: ...

    @abstractmethod
    def reason(self, error: Exception) -> str:
        """The cloud's own word for what went wrong: a code, nothing private."""

    # ── the protocol ──

    def identify(self) -> None:
        if self.installation is None:
            self.installation = Installation.objects.values_list("uid", flat=True).first()

    @property
    def client(self) -> Any:
        """Call it inside `asking`."""
        if time.monotonic() >= self._secret_until or self._signed is None:
            with self._lock:
                if time.monotonic() >= self._secret_until or self._signed is None:
                    self._sign_in_again()
        assert self._signed is not None  # noqa: S101 - signing in raises where it fails
        return self._signed.client

    @property
    def immutable(self) -> bool:
        return any(self.locks)

    @property
    def locks(self) -> Locks:
        if time.monotonic() >= self._locks_until:
            with self.asking("tell whether objects are locked"):
                self._locks = self.find_locks()
            self._locks_until = time.monotonic() + _LOCKS_SECONDS
        return self._locks

    def put_new(self, key: str, body: bytes, *, retain_until: datetime | None = None, lockable: bool = True) -> bool:
        self.require_marker()
        until = retain_until if retain_until and retain_until > timezone.now() + _SOONEST_LOCK else None
        with self.asking("write"):
            return self.create(self._prefix + key, body, until=until, lockable=lockable)

    def get(self, key: str) -> bytes:
        self.require_marker()
        with self.asking("read"):
            body = self.read(self._prefix + key)
        if body is None:
            self._look_for_marker()  # or it is the bucket that is missing
            raise ObjectMissing(because=key)
        return body

    def has(self, key: str) -> bool:
        self.require_marker()
        with self.asking("read"):
            found = self.exists(self._prefix + key)
        if not found:
            self._look_for_marker()
        return found

    def delete(self, key: str) -> None:
        if self.erase(key).kept:
            raise VaultUnavailable(because="the bucket cannot delete what is locked, or what we may not delete")

    def erase(self, key: str) -> Left:
        self.require_marker()
        with self.asking("delete"):
            return self._erase(self._prefix + key)

    def list(self, prefix: str) -> Iterator[str]:
        self.require_marker()
        with self.asking("list"):
            for path in self.names(self._prefix + prefix):
                yield path.removeprefix(self._prefix)

    def discard_drafts(self) -> None:  # noqa: B027 - it is not for each cloud
        """Nothing to do: an object that did not arrive whole is none."""

    def probe(self) -> None:
        """A put of the marker, which is there: it needs all that a put needs, and changes nothing."""
        self._look_for_marker()
        with self.asking("write"):
            if self.create(self._prefix + MARKER, self._marker, until=None, lockable=True):
                raise VaultNotMarked(because="the bucket has just lost its marker")

    def mark(self, installation: uuid.UUID) -> None:
        """Put the marker, unless it is there.

        Raises:
            VaultOfAnother: another's is.
            VaultUnavailable: also where the storage replaces objects although it is told not to.
        """
        self.installation = installation
        with self.asking("write"):
            for _ in range(2):
                created = self.create(self._prefix + MARKER, self._marker, until=None, lockable=True)
            if created:
                raise VaultUnavailable(because="the bucket replaces objects that it was told not to replace")
        self._look_for_marker()

    def require_marker(self) -> None:
        """Raises VaultNotMarked, VaultOfAnother, VaultUnavailable.

        One thread asks for all. While the bucket fails, one tries again every few seconds and holds up no other, for
        they serve other organizations too.
        """
        if time.monotonic() < self._marked_until:
            return
        was_failing = self._failure is not None
        self._raise_failure()
        if not self._marker_lock.acquire(timeout=0 if was_failing else patience()):
            self._raise_failure(still=True)
            if not was_failing:
                raise VaultUnavailable(because="the bucket takes too long to show its marker")
            return
        try:
            self._raise_failure()
            if time.monotonic() >= self._marked_until:
                self._look_for_marker()
        finally:
            self._marker_lock.release()

    def _look_for_marker(self) -> None:
        try:
            with self.asking("read"):
                found = self.read(self._prefix + MARKER)
            if found is None:
                raise VaultNotMarked(because="the bucket has no marker, or is not there")
            if self.installation is None or found != self._marker:
                raise VaultOfAnother(because="the bucket's marker is another installation's")
        except VaultUnavailable as error:
            self._marked_until = -math.inf
            self._failure, self._failing_until = error, time.monotonic() + FAILING_SECONDS
            raise
        self._marked_until, self._failure = time.monotonic() + MARKED_SECONDS, None

    def _raise_failure(self, *, still: bool = False) -> None:
        """The failure of the last look, while nobody need look again."""
        failure = self._failure
        if failure is not None and (still or time.monotonic() < self._failing_until):
            raise type(failure)(because=str(failure))

    @property
    def _marker(self) -> bytes:
        return f"This is the vault of the decision-record service's installation {self.installation}.\n".encode()

    def _erase(self, path: str) -> Left:
        """It ends with a list that shows nothing more to remove: what others put meanwhile is removed too."""
        refused: set[str] = set()
        is_known = False
        for _ in range(_ROUNDS):
            found = [*self.versions(path)]
            is_known = is_known or bool(found)
            there = [each for each in found if not each.recoverable_until]
            removed = [each for each in found if each.recoverable_until]
            kept = [each for each in there if each.is_kept or each.id in refused or not self._removed(path, each)]
            refused.update(each.id for each in kept)
            if len(kept) == len(there) and not [each for each in removed if self.purge(path, each.id)]:
                break
        else:
            raise VaultUnavailable(because="somebody else puts the same object again and again")
        if not is_known:
            self._look_for_marker()  # or it is another bucket that has nothing
        return Left(
            tuple(self._kept(path, each) for each in kept),
            _latest(self.lock_ends(path, each) for each in kept),
            _latest(each.recoverable_until for each in removed),
        )

    def _kept(self, path: str, version: Version) -> bytes:
        body = self.read(path, version.id)
        if body is None:
            raise VaultUnavailable(because="the bucket does not give what it lists")
        return body

    def _removed(self, path: str, version: Version) -> bool:
        try:
            self.remove(path, version)
        except self.errors as error:
            if not self.is_refusal(error):
                raise
            return False
        return True

    # ── credentials and errors ──

    def _sign_in_again(self) -> None:
        secret = self.configuration.secret(self.organization_id)
        now = time.monotonic()
        is_ending = self._signed is not None and now >= self._signed.good_until - _EARLY_SECONDS
        if self._signed is None or secret != self._secret or is_ending:
            try:
                self._signed, self._secret = self.sign_in(secret), secret
            except Exception as error:
                if self._signed is None or secret != self._secret or now >= self._signed.good_until:
                    raise
                log.warning("credentials of a vault cannot be renewed yet", reason=type(error).__name__)
        self._secret_until = now + _SECRET_SECONDS

    @contextmanager
    def asking(self, use: str) -> Iterator[None]:
        """What goes wrong with requests becomes VaultUnavailable, and the next use looks at the marker first.

        So does what the cloud's library makes of nonsense: where the endpoint is, its organization says, and what it
        answers must not end the work for others.
        """
        try:
            with self._bounded(use):
                yield
        except VaultUnavailable:
            raise
        except Exception as error:
            if not isinstance(error, (*self.errors, *_BROKEN)):
                log.error("a cloud's answer makes no sense", use=use, exc_info=error)
            self._marked_until = -math.inf
            raise VaultUnavailable(because=f"the bucket cannot {use} ({self._reason(error)})") from error

    @contextmanager
    def _bounded(self, use: str) -> Iterator[None]:
        """Once there was no answer in time, one thread tries this use again and the others are refused at once, until
        it succeeds: they serve other organizations too."""
        if use == "list" or hasattr(self._this_use, "ends"):  # the latter is part of another use
            yield
            return
        with self._slow_uses.counted():
            yield from self._tried(use)

    def _tried(self, use: str) -> Iterator[None]:
        slow = self._slow.get(use)
        if slow and not slow.acquire(blocking=False):
            raise VaultUnavailable(because=f"the bucket takes too long to {use}, and is being tried")
        self._this_use.ends = time.monotonic() + USE_SECONDS
        try:
            yield
        except TooSlow:
            self._slow.setdefault(use, Lock())
            raise
        else:
            self._slow.pop(use, None)
        finally:
            del self._this_use.ends
            if slow:
                slow.release()

    def _guard(self, method: str, host: str, target: str) -> None:
        if time.monotonic() >= getattr(self._this_use, "ends", math.inf):
            raise TooSlow

    def _reason(self, error: Exception) -> str:
        if isinstance(error, DomainError):  # of addresses, connections, secrets and roles
            return error.sentence.rstrip(".") or error.code
        return self.reason(error) if isinstance(error, self.errors) else type(error).__name__


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    return max((each for each in times if each), default=None)
