"""A locked object may stay when its record is destroyed, because its data key is a separate object. If the data key
itself stays, the record does not count as destroyed."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from custody import vaults
from custody.objects import DataKeyKept, Removal
from custody.sealing import sealer
from custody.vaults import ObjectMissing, storage_targets
from tests.custody.cloud_storage import PROVIDERS

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def in_days(days):
    return datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("days", [400, None], ids=["until a day", "for good"])
def test_a_locked_object_stays_without_its_data_key(keep, lock, storage_of, provider, days):
    record = keep(storage_of(provider, locked=True))
    until = in_days(days) if days else None
    lock(record.storage, record.name, until)
    for _ in range(2):
        assert record.remove() == Removal(is_kept=True, kept_until=until)
    assert not record.copies()
    assert record.names() == [record.name]
    assert not record.has()
    with pytest.raises(ObjectMissing):
        record.get()


def test_a_locked_object_is_removed_after_its_lock_expires(keep, lock, storage_of):
    record = keep(storage_of("gcp", locked=True))
    until = in_days(30)
    lock(record.storage, record.name, until)
    assert record.remove().kept_until == until
    with time_machine.travel(until + timedelta(minutes=1)):
        assert record.remove() == Removal()
    assert record.names() == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("is_earlier", [False, True], ids=["current", "an earlier version"])
def test_a_record_from_before_the_lock_does_not_count_as_destroyed(keep, lock, storage_of, provider, is_earlier):
    """Its data key is in its object, which cannot be removed."""
    record = keep(storage_of(provider, locked=True))
    record.storage.replace(record.name, record.body)
    until = in_days(400)
    lock(record.storage, record.name, until)
    if is_earlier:
        record.storage.replace(record.name, sealer.take_apart(record.body)[0])
    for _ in range(2):
        with pytest.raises(DataKeyKept, match="keeps the data key until") as raised:
            record.remove()
        assert raised.value.until == until
    assert record.copies()


def test_a_locked_object_that_cannot_be_parsed_does_not_count_as_destroyed(keep, lock, storage_of):
    record = keep(storage_of("gcp", locked=True))
    record.storage.replace(record.name, b"x" + record.body[1:])
    lock(record.storage, record.name, in_days(1))
    with pytest.raises(DataKeyKept):
        record.remove()


def test_a_bucket_s_retention_policy_keeps_data_keys_too_and_is_reported(keep, storage_of, google):
    storage = storage_of("gcp")
    google.buckets["records"].settings["retentionPolicy"] = {"retentionPeriod": str(30 * 86400)}
    record = keep(storage)
    with pytest.raises(DataKeyKept) as raised:
        record.remove()
    assert in_days(29) < raised.value.until < in_days(31)
    assert record.copies()
    with time_machine.travel(raised.value.until + timedelta(minutes=1)):
        assert record.remove() == Removal()


def test_a_data_key_is_found_in_a_bucket_that_no_longer_locks(keep, storage_of, organization, microsoft):
    record = keep(storage_of("azure", locked=True))
    microsoft.blob_headers.clear()
    vaults.forget()
    record.vault = vaults.of(storage_targets.current(organization.pk).pk)
    assert not record.vault.immutable
    assert record.has()
    assert record.remove() == Removal()
    assert not record.copies()


def test_a_short_default_lock_of_a_data_key_is_waited_for(keep, storage_of, amazon):
    storage = storage_of("aws", locked=True)
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 30}}
    amazon.client("s3").put_object_lock_configuration(
        Bucket="records", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
    )
    record = keep(storage)
    with pytest.raises(DataKeyKept) as raised:
        record.remove()
    assert raised.value.until <= datetime.now(UTC) + timedelta(minutes=1)
    assert record.copies()
