"""Helpers for tests of removing records."""

import base64
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from accounts.models import Organization
from custody import objects, vaults
from custody.models import Entry, object_key
from custody.sealing import sealer
from custody.vaults import Vault
from tests.custody.cloud_storage import CloudStorage

RAW = b'{"decision_id": "loan-1",  "amount": 1.50}'


class Kept:
    """A record in a bucket."""

    def __init__(self, storage: CloudStorage, vault: Vault, organization: Organization) -> None:
        self.storage, self.vault, self.organization_id = storage, vault, organization.pk
        self.id: uuid.UUID = Entry.objects.get().pk
        self.body = self.get()
        self.wrapped = sealer.unpack(self.body)[0].wrapped_dek
        self.name = name_in(storage, object_key(self.organization_id, self.id))
        assert len(self.wrapped) == 40

    def get(self) -> bytes:
        return objects.get(self.vault, self.organization_id, self.id)

    def has(self) -> bool:
        return objects.has(self.vault, self.organization_id, self.id)

    def remove(self) -> objects.Removal:
        return objects.remove(self.vault, self.organization_id, self.id)

    def copies(self) -> list[bytes]:
        """Return the copies of its wrapped data key that the storage still serves."""
        return copies(self.storage.bodies(), self.wrapped)

    def names(self) -> list[str]:
        return [name for name in self.storage.names() if self.id.hex in name]


def copies(bodies: list[bytes], wrapped: bytes) -> list[bytes]:
    """Return the bodies that contain a wrapped data key in any encoding."""
    spellings = [wrapped, base64.b64encode(wrapped), wrapped.hex().encode()]
    return [body for body in bodies if any(spelling in body for spelling in spellings)]


def name_in(storage: CloudStorage, key: str) -> str:
    return f"{storage.config['prefix']}/{key}"


@pytest.fixture
def keep(api: Any, use_storage: Any, organization: Organization) -> Callable[[CloudStorage], Kept]:
    """Return a function that stores a record in a bucket."""

    def take(storage: CloudStorage) -> Kept:
        vault = vaults.of(use_storage(organization, storage).pk)
        assert api.ingest(RAW).status_code == 201
        return Kept(storage, vault, organization)

    return take


@pytest.fixture
def lock(request: pytest.FixtureRequest) -> Callable[[CloudStorage, str, datetime | None], None]:
    """Return a function that locks an object as the bucket's owner can. Until None means for good."""

    def lock_one(storage: CloudStorage, name: str, until: datetime | None) -> None:
        if storage.provider == "aws":
            s3 = request.getfixturevalue("_amazon").client("s3")
            if until:
                retention = {"Mode": "COMPLIANCE", "RetainUntilDate": until}
                s3.put_object_retention(Bucket="records", Key=name, Retention=retention)
            else:
                s3.put_object_legal_hold(Bucket="records", Key=name, LegalHold={"Status": "ON"})
        elif storage.provider == "gcp":
            locked = request.getfixturevalue("_google").buckets["records"][name]
            locked.is_held = until is None
            locked.retention = {"mode": "Locked", "retainUntilTime": until.isoformat()} if until else None
        else:
            locked = request.getfixturevalue("_microsoft").versions.find(name)
            locked.until, locked.is_held = until, until is None

    return lock_one
