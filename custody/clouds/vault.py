"""Base of the vaults in customers' clouds."""

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
from custody.vaults import ObjectMissing, Remains, VaultNotMarked, VaultOfAnother, VaultUnavailable

log = structlog.get_logger("custody")

MARKER = "MARKER"
_REQUEST_SECONDS = 10.0
USE_SECONDS = 30.0
"""After this time a use sends no more requests. A list is exempt: it may have many pages."""
_VETTED_SECONDS = 60.0
ANSWER_BYTES = 16 * 2**20

MARKED_SECONDS = 1.0
"""How long a marker that was read counts as present. Each look costs a request."""
FAILING_SECONDS = 5.0
"""Pause between a failed look at the marker and the next one."""
_SECRET_SECONDS = 1.0
_LOCKS_SECONDS = 600.0
_ROUNDS = 4
"""A removal gives up after so many rounds in which others put the same object again."""
_SOONEST_LOCK = timedelta(minutes=1)
"""A shorter lock is not set: clouds refuse a lock that ends before the request arrives."""
_EARLY_SECONDS = 600.0
"""Temporary credentials are replaced this long before they end. If that fails, the old ones are used until then."""


_BROKEN = (DomainError, requests.RequestException, urllib3.exceptions.HTTPError)


class Signed(NamedTuple):
    """A client, and the `time.monotonic()` at which its credentials end."""

    client: Any
    good_until: float = math.inf


class CloudVault(ABC):
    """Objects of a bucket below the target's `prefix`. The prefix has this installation's marker.

    The marker is put only when the target is chosen. If it is missing or another installation's, nothing is put or
    read: the bucket was emptied, or someone else has created it again.

    Failed requests are not retried here: callers know when to retry. All threads share one client, over connections
    that stay open. It is replaced when the secret changes, and before its credentials end.
    """

    transactional = False
    parallel_puts = 8
    compares_checksums = True
    may_lock = True

    errors: ClassVar[tuple[type[Exception], ...]]
    """Exception types of the cloud's library."""

    def __init__(self, target: StorageTarget) -> None:
        """Read the target's configuration. Raises VaultUnavailable: it is refused, for example after a manual edit."""
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
        self._prefix = self.configuration.folder
        self._marked_until = self._failing_until = self._locks_until = self._secret_until = -math.inf
        self._failure: VaultUnavailable | None = None
        self._secret: str | None = None
        self._signed: Signed | None = None
        self._locks = Locks(of_objects=False, of_all=False)
        self._lock, self._marker_lock = Lock(), Lock()
        self._slow: dict[str, Lock] = {}
        self._this_use = local()
        self._slow_uses = SlowUses()

    # ── one implementation for each cloud; a path is a key with the prefix ──

    @abstractmethod
    def sign_in(self, secret: str) -> Signed:
        """Return a client that uses the configuration's credentials."""

    @abstractmethod
    def create(self, path: str, body: bytes, *, until: datetime | None, lockable: bool) -> bool:
        """Whether the object was created; an existing one does not change. The cloud compares the body's checksum."""

    @abstractmethod
    def read(self, path: str, version: str = "") -> bytes | None:
        """Return the body, or None if there is no such object, version or bucket."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Whether there is an object; False also if there is no such bucket."""

    @abstractmethod
    def versions(self, path: str) -> Iterator[Version]:
        """Yield every version of an object, including removed ones that the cloud can restore."""

    @abstractmethod
    def remove(self, path: str, version: Version) -> None:
        """Remove a version. A missing one is no error."""

    def purge(self, path: str, version: str) -> bool:
        """Whether this call has made a removed version unrecoverable."""
        return False

    @abstractmethod
    def is_refusal(self, error: Exception) -> bool:
        """Whether one of `errors` may mean that the object is locked. A missing permission counts too, because not
        every cloud tells the two apart."""

    def lock_ends(self, path: str, version: Version) -> datetime | None:
        """Return the end of a version's lock, or None if it is not known."""
        return version.kept_until

    @abstractmethod
    def names(self, prefix: str) -> Iterator[str]:
        """Yield the paths of all objects below a prefix, page by page."""

    @abstractmethod
    def find_locks(self) -> Locks: ...

    @abstractmethod
    def reason(self, error: Exception) -> str:
        """Return the cloud's error code. It has nothing private."""

    # ── the protocol ──

    def identify(self) -> None:
        if self.installation is None:
            self.installation = Installation.objects.values_list("uid", flat=True).first()

    @property
    def client(self) -> Any:
        """The current client. Use it inside `asking`."""
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
            self._look_for_marker()  # raises if the bucket itself is missing
            raise ObjectMissing(because=key)
        return body

    def has(self, key: str) -> bool:
        self.require_marker()
        with self.asking("read"):
            is_there = self.exists(self._prefix + key)
        if not is_there:
            self._look_for_marker()
        return is_there

    def delete(self, key: str) -> None:
        if self.erase(key).bodies:
            raise VaultUnavailable(because="the bucket cannot delete what is locked, or what we may not delete")

    def erase(self, key: str) -> Remains:
        self.require_marker()
        with self.asking("delete"):
            return self._erase(self._prefix + key)

    def list(self, prefix: str) -> Iterator[str]:
        self.require_marker()
        with self.asking("list"):
            for path in self.names(self._prefix + prefix):
                yield path.removeprefix(self._prefix)

    def discard_drafts(self) -> None:  # noqa: B027 - clouds need no implementation
        """Do nothing: a put that did not finish leaves no object."""

    def probe(self) -> None:
        """Put the existing marker again. That needs every permission of a put, and changes nothing."""
        self._look_for_marker()
        with self.asking("write"):
            if self.create(self._prefix + MARKER, self._marker, until=None, lockable=True):
                raise VaultNotMarked(because="the bucket has just lost its marker")

    def mark(self, installation: uuid.UUID) -> None:
        """Put the marker, unless it exists.

        Raises:
            VaultOfAnother: the bucket has another installation's marker.
            VaultUnavailable: the bucket does not answer, or replaces objects despite the put's condition.
        """
        self.installation = installation
        with self.asking("write"):
            for _ in range(2):
                created = self.create(self._prefix + MARKER, self._marker, until=None, lockable=True)
            if created:
                raise VaultUnavailable(because="the bucket replaces objects that it was told not to replace")
        self._look_for_marker()

    def require_marker(self) -> None:
        """Raise unless the bucket has this installation's marker. One thread asks for all.

        While the bucket fails, one thread looks again every few seconds. The others fail at once, because they serve
        other organizations too.

        Raises:
            VaultNotMarked, VaultOfAnother, VaultUnavailable
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
                body = self.read(self._prefix + MARKER)
            if body is None:
                raise VaultNotMarked(because="the bucket has no marker, or is not there")
            if self.installation is None or body != self._marker:
                raise VaultOfAnother(because="the bucket's marker is another installation's")
        except VaultUnavailable as error:
            self._marked_until = -math.inf
            self._failure, self._failing_until = error, time.monotonic() + FAILING_SECONDS
            raise
        self._marked_until, self._failure = time.monotonic() + MARKED_SECONDS, None

    def _raise_failure(self, *, still: bool = False) -> None:
        """Raise the failure of the last look, until the next look is due."""
        failure = self._failure
        if failure is not None and (still or time.monotonic() < self._failing_until):
            raise type(failure)(because=str(failure))

    @property
    def _marker(self) -> bytes:
        return f"This is the vault of the decision-record service's installation {self.installation}.\n".encode()

    def _erase(self, path: str) -> Remains:
        """Remove all versions, in rounds, until a list shows none to remove: others may put the object meanwhile."""
        refused: set[str] = set()
        is_known = False
        for _ in range(_ROUNDS):
            versions = [*self.versions(path)]
            is_known = is_known or bool(versions)
            there = [version for version in versions if not version.recoverable_until]
            removed = [version for version in versions if version.recoverable_until]
            locked = [
                version
                for version in there
                if version.is_kept or version.id in refused or not self._removed(path, version)
            ]
            refused.update(version.id for version in locked)
            if len(locked) == len(there) and not [version for version in removed if self.purge(path, version.id)]:
                break
        else:
            raise VaultUnavailable(because="another installation puts the same object again and again")
        if not is_known:
            self._look_for_marker()  # raises if another bucket has taken this one's place
        return Remains(
            tuple(self._body(path, version) for version in locked),
            _latest(self.lock_ends(path, version) for version in locked),
            _latest(version.recoverable_until for version in removed),
        )

    def _body(self, path: str, version: Version) -> bytes:
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
        """Turn every failure of a request into VaultUnavailable, and have the next use look at the marker first.

        So nonsense in an answer ends no other work: the organization chooses the endpoint, so it may answer anything.
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
        """Limit a use's time. After a timeout, one thread tries this use again and the others fail at once until it
        succeeds, because they serve other organizations too."""
        if use == "list" or hasattr(self._this_use, "ends"):  # inside another use
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
        if isinstance(error, DomainError):  # from addresses, connections, secrets and roles
            return error.sentence.rstrip(".") or error.code
        return self.reason(error) if isinstance(error, self.errors) else type(error).__name__


def _latest(times: Iterable[datetime | None]) -> datetime | None:
    return max((time for time in times if time), default=None)
