"""A customer whose keys are at Google (an emulator), and a clock that can be moved."""

import json
from collections.abc import Callable, Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts import callers
from accounts.models import Organization
from custody import services
from custody.clouds.gcp import configuration as gcp
from custody.keys import epoch_keys, keyrings, kms
from custody.keys.keyrings import Purpose
from custody.models import Key
from tests.support.certificates import Authority
from tests.support.cloud_kms import CryptoKey
from tests.support.gcs_server import GcsServer, gcs_server
from tests.support.kept_rows import make_once
from tests.support.web_server import Reply

_SECRET = "DRS_SECRET_CUSTOMER"
_held: list[list[CryptoKey]] = []
"""The first keys of organizations of earlier tests."""


def _unused(key: CryptoKey) -> CryptoKey:
    """Return a copy of a key, which later changes of the key do not affect."""
    same = copy(key)
    same.versions = list(map(copy, key.versions))
    same.bindings = []
    return same


class Customer:
    """The keys of an organization at its key management service, and the customer's actions there."""

    def __init__(self, google: GcsServer) -> None:
        self.google = google
        self.kms = google.kms
        self.status = 200
        """The status of every answer; 200 lets the service itself answer."""
        self.calls: list[str] = []
        """The verbs of all calls about keys."""
        self._answer = google.kms.answer

    def answer(self, request: Any) -> Reply:
        self.calls.append(request.path.rpartition(":")[2])
        return self._answer(request) if self.status == 200 else Reply(b"", self.status)

    def key(self, purpose: Purpose, name: str = "", algorithm: str = "EC_SIGN_P256_SHA256") -> dict[str, str]:
        """Create a key, and return a configuration that names it."""
        setting = {"secret_ref": f"env:{_SECRET}", "kms_endpoint": self.google.url}
        if purpose is Purpose.SIGNING:
            return setting | {"signing_key": self.kms.key(name or "signing", algorithm).version}
        return setting | {"kms_key": self.kms.key(name or "wrapping").name}

    def holds(self, organization: Organization, *purposes: Purpose, name: str = "") -> list[Key]:
        """Have an organization use keys that are held here."""
        caller = callers.system(organization.pk)
        return [
            services.rotate_key(caller=caller, purpose=purpose, provider="gcp", config=self.key(purpose, name))
            for purpose in purposes
        ]

    def holds_as_before(self, organization: Organization, *purposes: Purpose) -> Organization:
        """Do the same as `holds`, with the same keys in every test of a process and no calls so far."""

        def make() -> tuple[Organization, int]:
            self.holds(organization, *purposes)
            _held.append(list(map(_unused, self.kms.keys.values())))
            return organization, len(_held) - 1

        using, number = make_once(f"keys held elsewhere: {purposes}", make)
        self.kms.keys.update({key.name: _unused(key) for key in _held[number]})
        self.calls.clear()
        kms.forget()
        return using


@pytest.fixture(scope="session")
def _google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GcsServer, Authority]]:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    with gcs_server(authority.server_context("localhost")) as server:
        yield server, authority


@pytest.fixture
def customer(_google: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Customer:
    google, authority = _google
    google.reset()
    settings.TRUSTED_CA_FILE = str(authority.file)
    settings.ALLOWED_PRIVATE_HOSTS = ["localhost"]
    granted = (*gcp.WRAPPING_PERMISSIONS, *gcp.SIGNING_PERMISSIONS)
    monkeypatch.setenv(_SECRET, json.dumps(google.service_account("custody", *granted)))
    made = Customer(google)
    monkeypatch.setattr(google.kms, "answer", made.answer)
    kms.forget()
    epoch_keys.forget()
    return made


@pytest.fixture
def queueing(organization: Organization, customer: Customer) -> Organization:
    """Return an organization that holds both of its keys, so that its records are queued."""
    return customer.holds_as_before(organization, Purpose.SIGNING, Purpose.WRAPPING)


@pytest.fixture(params=[(Purpose.SIGNING,), (Purpose.WRAPPING,), (Purpose.SIGNING, Purpose.WRAPPING)])
def queueing_for_each(request: pytest.FixtureRequest, organization: Organization, customer: Customer) -> Organization:
    """Run a test once for each reason why records are queued."""
    return customer.holds_as_before(organization, *request.param)


class Clock:
    """The time of this process: its date and its running time, both of which can be moved."""

    def __init__(self, traveller: Any) -> None:
        self._traveller, self.ahead = traveller, 0.0

    def pass_by(self, span: timedelta) -> None:
        self.ahead += span.total_seconds()
        self._traveller.shift(span)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    with time_machine.travel(datetime.now(UTC)) as traveller:
        moved, running = Clock(traveller), epoch_keys.monotonic
        monkeypatch.setattr(epoch_keys, "monotonic", lambda: running() + moved.ahead)
        yield moved


@pytest.fixture
def another_process(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function after which this process knows as little as a new one."""

    def begin() -> None:
        keyrings.forget()
        epoch_keys.forget()
        kms.forget()

    return begin
