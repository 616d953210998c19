"""Epoch keys: keys between a customer's wrapping key and the data keys of records.

An epoch key is 32 random bytes in the memory of one process, wrapped once by the wrapping key. It wraps the data keys
of the next few minutes, so that an outage or a quota of the key management service does not stop ingest at once.

A wrapped data key has everything that is needed to open it with the key management service alone:

    EPK1, then three fields, each after its length as 2 bytes big-endian:
    the wrapping key, a line break and its version; the wrapped epoch key; the data key, wrapped by AES-KW (RFC 3394)
"""

import math
import os
import struct
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TypeVar

import structlog
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

from custody.keys import kms, outages
from custody.keys.kms import KeyService, KmsRefused, KmsUnavailable, Wrapped
from custody.models import Key

log = structlog.get_logger("custody")

Answer = TypeVar("Answer")

EPOCH_KEYS = "epoch-aes-256-kw"
"""The algorithm of wrapping keys that are used through epoch keys."""
_MAGIC = b"EPK1"
_LENGTH = struct.Struct(">H")
_FRESH_SECONDS = 300
"""Age at which a process makes a new epoch key."""
_MAX_SECONDS = 1800
"""Age up to which it uses the last one while the service is away."""
_PAUSE_SECONDS = 10
"""Pause after a failure: each call may hold a thread that waits for no answer."""
_SLOW_SECONDS = 1
"""A refusal that took longer also pauses the unwrapping of earlier epoch keys."""
_REMEMBERED_SECONDS = 300
_MAX_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class _EpochKey:
    secret: bytes = field(repr=False)
    wrapped: Wrapped
    made_at: float


@dataclass(slots=True)
class _State:
    """State of a wrapping key in this process."""

    own: _EpochKey | None = None
    renewed_not_before: float = -math.inf
    opened_not_before: float = -math.inf
    away_until: float = -math.inf
    renewing: Lock = field(default_factory=Lock)


class _Opened:
    """Recently unwrapped epoch keys of all wrapping keys, limited in age and number."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._secrets: OrderedDict[tuple[uuid.UUID, Wrapped], tuple[bytes, float]] = OrderedDict()

    def get(self, organization_id: uuid.UUID, wrapped: Wrapped) -> bytes | None:
        with self._lock:
            secret, until = self._secrets.get((organization_id, wrapped), (None, 0.0))
        return secret if monotonic() < until else None

    def add(self, organization_id: uuid.UUID, wrapped: Wrapped, secret: bytes) -> None:
        now = monotonic()
        with self._lock:
            self._secrets[organization_id, wrapped] = secret, now + _REMEMBERED_SECONDS
            self._secrets.move_to_end((organization_id, wrapped))
            while len(self._secrets) > _MAX_REMEMBERED or next(iter(self._secrets.values()))[1] <= now:
                self._secrets.popitem(last=False)


_states: dict[tuple[uuid.UUID, str], _State] = {}
_opened = _Opened()


def forget() -> None:
    """Have this process make new epoch keys, and unwrap earlier ones again."""
    global _opened
    _states.clear()
    _opened = _Opened()


os.register_at_fork(after_in_child=forget)  # a lock may be held, and each process has its own epoch keys


class EpochKeyWrapper:
    """A `KeyWrapper` whose key is in a key management service."""

    def __init__(self, row: Key) -> None:
        self.key_id = row.key_id
        self._row = row

    @property
    def _state(self) -> _State:
        name = (self._row.organization_id, self.key_id)
        return _states.get(name) or _states.setdefault(name, _State())

    def wrap(self, key: bytes) -> bytes:
        """Wrap a data key. Raises KmsUnavailable: there is no usable epoch key, and no new one can be made."""
        epoch = self._current()
        named = f"{epoch.wrapped.key}\n{epoch.wrapped.version}".encode()
        return _MAGIC + b"".join(
            _LENGTH.pack(len(part)) + part for part in (named, epoch.wrapped.blob, aes_key_wrap(epoch.secret, key))
        )

    def unwrap(self, wrapped: bytes) -> bytes:
        """Unwrap a data key. Raises KmsUnavailable, InvalidUnwrap, ValueError."""
        named, blob, key = _parts(wrapped)
        name, _, version = named.decode().partition("\n")
        return aes_key_unwrap(self._open(Wrapped(name, version, blob)), key)

    def _current(self) -> _EpochKey:
        state, now = self._state, monotonic()
        if state.own and now < state.own.made_at + _FRESH_SECONDS:
            return state.own
        last = state.own if state.own and now < state.own.made_at + _MAX_SECONDS else None
        if last and state.renewing.locked():  # by another thread; a thread without a key waits for it
            return last
        with state.renewing:
            return self._renewed(state, last)

    def _renewed(self, state: _State, last: _EpochKey | None) -> _EpochKey:
        """Return a new epoch key, or the last one if that fails.

        Args:
            last: the epoch key to use if there is no new one.
        """
        now = monotonic()
        if state.own and now < state.own.made_at + _FRESH_SECONDS:  # another thread has made one
            return state.own
        wait = max(state.renewed_not_before, state.away_until) - now
        if wait <= 0:
            try:
                state.own = self._made()
            except KmsUnavailable:
                state.renewed_not_before = monotonic() + _PAUSE_SECONDS
                if last is None:
                    raise
            else:
                return state.own
        elif last is None:
            raise _asked_lately(wait)
        return last

    def _made(self) -> _EpochKey:
        secret, wrapped = self._asked(lambda service: service.new_secret())
        return _EpochKey(secret, wrapped, monotonic())

    def _open(self, wrapped: Wrapped) -> bytes:
        own = self._state.own
        if own and own.wrapped == wrapped:
            return own.secret
        known = _opened.get(self._row.organization_id, wrapped)
        if known is not None:
            return known
        wait = max(self._state.away_until, self._state.opened_not_before) - monotonic()
        if wait > 0:
            raise _asked_lately(wait)
        secret = self._asked(lambda service: service.unwrap(wrapped))
        _opened.add(self._row.organization_id, wrapped, secret)
        return secret

    def _asked(self, ask: Callable[[KeyService], Answer]) -> Answer:
        row, began = self._row, monotonic()
        try:
            answer = ask(kms.service(row.provider, row.configuration, row.organization_id))
        except KmsUnavailable as error:
            now = monotonic()
            if not isinstance(error, KmsRefused):
                self._state.away_until = now + _PAUSE_SECONDS
            elif now > began + _SLOW_SECONDS:
                self._state.opened_not_before = now + _PAUSE_SECONDS
            log.warning("a wrapping key cannot be used", key_id=row.key_id, reason=error.reason)
            outages.note(row.pk, error.reason)
            raise
        outages.over(row.pk)
        return answer


def _asked_lately(wait: float) -> KmsUnavailable:
    return KmsUnavailable("it was asked a moment ago", retry_after=math.ceil(wait))


def _parts(wrapped: bytes) -> list[bytes]:
    """Split a wrapped data key into its three fields. Raises ValueError."""
    if not wrapped.startswith(_MAGIC):
        raise ValueError("not wrapped by an epoch key")
    parts, end = [], len(_MAGIC)
    for _ in range(3):
        start = end + _LENGTH.size
        end = start + int.from_bytes(wrapped[end:start])
        parts.append(wrapped[start:end])
    if end != len(wrapped):
        raise ValueError("not wrapped by an epoch key")
    return parts
