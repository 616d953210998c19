"""In vaults that lock objects, the wrapped data key is a separate object without a lock, put first."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from custody import objects, services, vaults
from custody.models import Entry, WaitingObject, data_key_key, object_key
from custody.sealing import sealer
from custody.services.complete import Put, put
from custody.vaults import ObjectMissing, VaultUnavailable
from decisions.models import Decision
from tests.custody.cloud_storage import PROVIDERS
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RAW = b'{"decision_id": "loan-1",  "amount": 1.50}'
LATER = datetime(2036, 1, 1, tzinfo=UTC)


@pytest.fixture(params=PROVIDERS)
def storage(request, storage_of):
    return storage_of(request.param, locked=True)


@pytest.fixture
def vault(storage, use_storage, organization):
    return vaults.of(use_storage(organization, storage).pk)


@pytest.fixture
def entry(api, vault):
    assert api.ingest(RAW).status_code == 201
    return Entry.objects.get()


def of(*providers):
    """Only these providers: the services use the two objects alike with each."""
    return pytest.mark.parametrize("storage", providers, indirect=True)


def keys_of(entry):
    ids = entry.organization_id, entry.pk
    return object_key(*ids), data_key_key(*ids)


def forget_records():
    with unguarded():
        Decision.objects.all().delete()
        WaitingObject.objects.all().delete()
        Entry.objects.all().delete()


def test_the_data_key_is_separate_put_first_and_opens_the_record(api, entry, vault, storage):
    key, key_of_dek = keys_of(entry)
    header, _ = sealer.unpack(vault.get(key))
    assert (header.wrapped_dek, len(vault.get(key_of_dek))) == (b"", 40)
    puts = [request for request in storage.front.requests if request.method == storage.put_method]
    places = [b"/keys/" in request.body or "/keys/" in request.target for request in puts[-2:]]
    assert places == [True, False]
    assert api.get("/v1/decisions/loan-1/record").content == RAW


@of("gcp")
def test_a_record_without_its_data_key_is_unreadable_and_named_as_missing(api, entry, vault):
    vault.delete(keys_of(entry)[1])
    assert api.get("/v1/decisions/loan-1/record").status_code == 500
    with pytest.raises(ObjectMissing, match="/keys/"):
        objects.get(vault, entry.organization_id, entry.pk)
    assert [finding for _, finding in services.repair_vaults()] == [services.Found.MISSING]


@of("aws")
def test_the_same_record_again_is_compared_with_both_objects(entry, vault):
    body = objects.get(vault, entry.organization_id, entry.pk)
    assert objects.put(vault, entry.organization_id, entry.pk, body)
    other = sealer.put_together(body, bytes(40))
    assert not objects.put(vault, entry.organization_id, entry.pk, other)
    assert objects.get(vault, entry.organization_id, entry.pk) == body


def test_after_a_lost_put_a_retry_finds_or_stores_the_record(api, vault, storage, subtests):
    api.ingest({"decision_id": "warm-up"})
    take = storage.faults.take
    for number, lost in enumerate(["the first put's answer", "the second put's answer", "the second put"]):
        skip, seen = 0 if "first" in lost else 1, []

        def fail_one(request, skip=skip, seen=seen, lost=lost):
            if request.method == storage.put_method and not request.path.endswith("/token"):
                seen.append(request)
                if len(seen) == skip + 1:
                    storage.faults.add(503, after="answer" in lost)
            return take(request)

        raw = RAW.replace(b"loan-1", b"loan-%d" % number)
        with subtests.test(lost):
            storage.faults.take = fail_one
            assert api.ingest(raw).status_code == 503
            del storage.faults.take
            assert api.ingest(raw).status_code == 200
            assert api.get(f"/v1/decisions/loan-{number}/record").content == raw
            assert len(storage.names()) == 5 + 2 * number


@of("azure")
def test_a_data_key_without_a_record_is_replaced_by_the_next_record_s(api, entry, vault):
    """The first attempt was cut off between the two objects, and its database is lost."""
    key, key_of_dek = keys_of(entry)
    first = vault.get(key_of_dek)
    forget_records()
    vault.delete(key)
    assert api.ingest(RAW).status_code == 201
    assert api.get("/v1/decisions/loan-1/record").content == RAW
    assert vault.get(key_of_dek) != first


@of("gcp")
def test_a_forgotten_record_is_adopted_with_its_data_key(api, entry, organization):
    receipt = api.get("/v1/decisions/loan-1/receipt").json()
    forget_records()
    assert services.adopt_orphans(organization) == 1
    assert api.get("/v1/decisions/loan-1/receipt").json() == receipt
    forget_records()
    again = api.ingest(RAW)
    assert (again.status_code, again.json()) == (200, receipt)


@of("aws")
def test_no_new_data_key_is_left_beside_a_record_whose_own_was_destroyed(api, entry, vault):
    key, key_of_dek = keys_of(entry)
    vault.delete(key_of_dek)
    forget_records()
    assert api.ingest(RAW).status_code == 503
    assert not vault.has(key_of_dek)
    assert vault.has(key)


@of("gcp")
def test_a_record_from_before_the_lock_is_found_as_it_was_put(vault, organization, api):
    record_id = uuid.uuid4()
    api.ingest(RAW)
    stored = Entry.objects.get()
    body = objects.get(vault, organization.pk, stored.pk)
    assert vault.put_new(object_key(organization.pk, record_id), body)
    assert objects.put(vault, organization.pk, record_id, body)
    assert objects.get(vault, organization.pk, record_id) == body
    assert objects.has(vault, organization.pk, record_id)
    assert not vault.has(data_key_key(organization.pk, record_id))


@of("azure")
def test_a_damaged_object_does_not_affect_others(entry, vault, organization):
    record_id = uuid.uuid4()
    vault.put_new(object_key(organization.pk, record_id), b"x")
    body = objects.get(vault, organization.pk, entry.pk)
    assert put(vault, organization.pk, record_id, body) is Put.OTHER_OBJECT
    assert objects.has(vault, organization.pk, record_id)


# ── locks of each cloud ──


@pytest.mark.parametrize("default", [False, True])
def test_s3_locks_the_record_and_not_its_data_key(storage_of, use_storage, organization, amazon, default):
    storage = storage_of("aws", locked=True)
    s3 = amazon.client("s3")
    if default:
        rule = {"DefaultRetention": {"Mode": "GOVERNANCE", "Days": 30}}
        s3.put_object_lock_configuration(
            Bucket="records", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
        )
    vault = vaults.of(use_storage(organization, storage).pk)
    assert vault.immutable
    vault.put_new("0a/records/00/00", b"x", retain_until=LATER)
    vault.put_new("0a/keys/00/00", b"x", lockable=False)

    def lock(key):
        try:
            retention = s3.get_object_retention(Bucket="records", Key=f"kept/here/{key}")["Retention"]
        except s3.exceptions.ClientError:
            return None, None
        return retention["Mode"], retention["RetainUntilDate"]

    assert lock("0a/records/00/00") == ("COMPLIANCE", LATER)
    mode, until = lock("0a/keys/00/00")
    if default:
        assert mode == "GOVERNANCE"
        assert until < datetime.now(UTC) + timedelta(minutes=2)
    else:
        assert mode is None
    with pytest.raises(VaultUnavailable, match="cannot delete"):
        vault.delete("0a/records/00/00")
    assert vault.get("0a/records/00/00") == b"x"


def test_cloud_storage_locks_the_record_and_not_its_data_key(storage_of, use_storage, organization, google):
    vault = vaults.of(use_storage(organization, storage_of("gcp", locked=True)).pk)
    vault.put_new("0a/records/00/00", b"x", retain_until=LATER)
    vault.put_new("0a/keys/00/00", b"x", lockable=False)
    bucket = google.buckets["records"]
    assert bucket["kept/here/0a/records/00/00"].retention["mode"] == "Locked"
    assert datetime.fromisoformat(bucket["kept/here/0a/records/00/00"].retention["retainUntilTime"]) == LATER
    assert bucket["kept/here/0a/keys/00/00"].retention is None
    with pytest.raises(VaultUnavailable, match="cannot delete"):
        vault.delete("0a/records/00/00")


def test_azure_locks_the_record_and_not_its_data_key(storage_of, use_storage, organization, microsoft):
    storage = storage_of("azure", locked=True)
    vault = vaults.of(use_storage(organization, storage).pk)
    vault.put_new("0a/records/00/00", b"x", retain_until=LATER)
    vault.put_new("0a/keys/00/00", b"x", lockable=False)

    def lock(key):
        (put,) = [
            request for request in storage.front.requests if request.method == "PUT" and request.path.endswith(key)
        ]
        return put.headers.get("x-ms-immutability-policy-mode"), put.headers.get("x-ms-immutability-policy-until-date")

    assert lock("0a/records/00/00") == ("Locked", "Tue, 01 Jan 2036 00:00:00 GMT")
    assert lock("0a/keys/00/00") == (None, None)


def test_a_bucket_that_does_not_say_whether_it_locks_takes_nothing(storage, use_storage, organization, api):
    """If the bucket does lock, a record put as one object could never be destroyed."""
    use_storage(organization, storage)
    place = {"aws": "object-lock", "gcp": "projection", "azure": "restype=container"}[storage.provider]
    storage.faults.add(403, method="GET", path=place, times=1000)
    before = len(storage.front.requests)
    assert api.ingest(RAW).status_code == 503, [request.target for request in storage.front.requests[before:]]
    storage.faults.clear()
    assert api.ingest(RAW).status_code == 200
