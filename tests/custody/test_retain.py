"""Storage that locks objects retains a record as long as its organization's policy says, and never shorter than the
bucket's owner has set."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.exceptions import ImproperlyConfigured

from accounts import callers
from custody import objects, services, vaults
from custody.models import Entry, WaitingObject, data_key_key, object_key
from custody.services import move_records
from custody.vaults import lock_periods
from tests.custody.cloud_storage import PROVIDERS
from tests.custody.removing import RAW, name_in

pytestmark = [pytest.mark.django_db, pytest.mark.once]

DAYS = 400
SECOND = timedelta(seconds=1)


@pytest.fixture
def policy(monkeypatch):
    """By organization, for how many days it keeps its records."""
    days = {}
    monkeypatch.setattr(lock_periods, "_days_of", days.get)
    return days


@pytest.fixture
def lock_of(request):
    """Until when an object is locked, and how."""

    def find(storage, key):
        name = name_in(storage, key)
        if storage.provider == "aws":
            s3 = request.getfixturevalue("_amazon").client("s3")
            try:
                retention = s3.get_object_retention(Bucket="records", Key=name)["Retention"]
            except s3.exceptions.ClientError:
                return None, None
            return retention["RetainUntilDate"], retention["Mode"].title()
        if storage.provider == "gcp":
            retention = request.getfixturevalue("_google").buckets["records"][name].retention
            return (
                (datetime.fromisoformat(retention["retainUntilTime"]), retention["mode"]) if retention else (None, None)
            )
        retention = request.getfixturevalue("_microsoft").versions.find(name)
        return (retention.until, retention.mode) if retention.until else (None, None)

    return find


@pytest.fixture
def lock_by_default(request):
    """Return a function that gives a bucket a default lock for all objects."""

    def set_default(provider, **lasts):
        if provider == "aws":
            rule = {"DefaultRetention": {"Mode": "GOVERNANCE", **lasts}}
            request.getfixturevalue("_amazon").client("s3").put_object_lock_configuration(
                Bucket="records", ObjectLockConfiguration={"ObjectLockEnabled": "Enabled", "Rule": rule}
            )
        elif provider == "gcp":
            policy = {"retentionPeriod": str(lasts["Days"] * 86400)}
            request.getfixturevalue("_google").buckets["records"].settings["retentionPolicy"] = policy
        else:
            cloud = request.getfixturevalue("_microsoft")
            cloud.blob_headers["x-ms-has-immutability-policy"] = "true"
            cloud.versions.locked_for = timedelta(days=lasts["Days"])

    return set_default


def keys_of(entry):
    ids = entry.organization_id, entry.pk
    return object_key(*ids), data_key_key(*ids)


def is_about(moment, wanted, *, within=SECOND):
    return moment is not None and abs(moment - wanted) <= within


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_record_is_locked_for_the_days_of_the_policy_since_its_receipt(
    api, organization, storage_of, use_storage, policy, lock_of, provider
):
    policy[organization.pk] = DAYS
    storage = storage_of(provider, locked=True)
    use_storage(organization, storage)
    assert api.ingest(RAW).status_code == 201
    entry = Entry.objects.get()
    key, key_of_dek = keys_of(entry)
    until, mode = lock_of(storage, key)
    assert is_about(until, entry.received_at + timedelta(days=DAYS))
    assert mode == ("Compliance" if provider == "aws" else "Locked")
    assert lock_of(storage, key_of_dek) == (None, None)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_without_a_policy_nothing_is_locked_but_by_the_bucket(
    api, organization, storage_of, use_storage, policy, lock_of, provider
):
    storage = storage_of(provider, locked=True)
    use_storage(organization, storage)
    api.ingest(RAW)
    assert lock_of(storage, keys_of(Entry.objects.get())[0]) == (None, None)


@pytest.mark.parametrize("provider", ["aws", "azure"])
@pytest.mark.parametrize("default", [{"Days": 30}, {"Days": 4000}], ids=["shorter", "longer"])
def test_of_the_buckets_own_lock_and_the_policys_the_longer_one_counts(
    api, organization, storage_of, use_storage, policy, lock_of, lock_by_default, provider, default
):
    policy[organization.pk] = DAYS
    storage = storage_of(provider, locked=True)
    use_storage(organization, storage)
    lock_by_default(provider, **default)
    api.ingest(RAW)
    entry = Entry.objects.get()
    key, key_of_dek = keys_of(entry)
    until, mode = lock_of(storage, key)
    longer = max(DAYS, default["Days"])
    assert is_about(until, entry.received_at + timedelta(days=longer), within=timedelta(minutes=1))
    assert mode == {"aws": "Compliance" if longer == DAYS else "Governance", "azure": "Locked"}[provider]
    assert lock_of(storage, key_of_dek)[0] < datetime.now(UTC) + timedelta(minutes=2)


def test_at_google_both_count_and_the_later_end_decides(
    api, organization, storage_of, use_storage, policy, lock_by_default, google
):
    storage = storage_of("gcp", locked=True)
    lock_by_default("gcp", Days=4000)
    policy[organization.pk] = DAYS
    use_storage(organization, storage)
    api.ingest(RAW)
    entry = Entry.objects.get()
    bucket = google.buckets["records"]
    blob = bucket[name_in(storage, keys_of(entry)[0])]
    own = datetime.fromisoformat(blob.retention["retainUntilTime"])
    assert is_about(own, entry.received_at + timedelta(days=DAYS))
    assert bucket.retained_until(blob) > datetime.now(UTC) + timedelta(days=3999)


@pytest.mark.parametrize("days", [365 * 7, 365 * 7 + 1])
def test_a_default_of_years_is_not_shortened_by_a_leap_day(
    api, organization, storage_of, use_storage, policy, lock_of, lock_by_default, days
):
    policy[organization.pk] = days
    storage = storage_of("aws", locked=True)
    use_storage(organization, storage)
    lock_by_default("aws", Years=7)
    api.ingest(RAW)
    entry = Entry.objects.get()
    until, mode = lock_of(storage, keys_of(entry)[0])
    assert mode == "Governance" or until - entry.received_at >= timedelta(days=365 * 7 + 2), "the most 7 years have"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_lock_of_an_object_that_is_there_is_never_shortened(
    api, organization, storage_of, use_storage, policy, lock_of, lock_by_default, provider
):
    policy[organization.pk] = DAYS
    storage = storage_of(provider, locked=True)
    vault = vaults.of(use_storage(organization, storage).pk)
    if provider == "azure":
        lock_by_default(provider, Days=30)
    api.ingest(RAW)
    entry = Entry.objects.get()
    before = lock_of(storage, keys_of(entry)[0])
    body = objects.get(vault, organization.pk, entry.pk)
    for until in (None, datetime.now(UTC) + timedelta(days=100)):
        assert objects.put(vault, organization.pk, entry.pk, body, retain_until=until)
        assert lock_of(storage, keys_of(entry)[0]) == before


def test_whose_answer_was_lost_is_locked_for_as_long_at_azure_too(
    api, organization, storage_of, use_storage, policy, lock_of, lock_by_default
):
    """There the container's own lock is looked at after the put, and prolonged."""
    policy[organization.pk] = DAYS
    storage = storage_of("azure", locked=True)
    use_storage(organization, storage)
    lock_by_default("azure", Days=30)
    for lost in ({"after": True, "method": "PUT", "path": "/records/" + storage.config["prefix"]}, {"method": "HEAD"}):
        storage.faults.add(503, **lost)
    statuses = [api.ingest(RAW).status_code for _ in range(3)]
    assert statuses[0] == 503
    assert statuses[-1] == 200
    entry = Entry.objects.get()
    until, _ = lock_of(storage, keys_of(entry)[0])
    assert is_about(until, entry.received_at + timedelta(days=DAYS))


def test_what_is_over_is_no_lock(api, organization, storage_of, use_storage, policy, lock_of):
    """Clouds refuse a time in the past, for example when an old record moves."""
    policy[organization.pk] = 1
    with time_machine.travel(datetime.now(UTC) - timedelta(days=2)):
        assert api.ingest(RAW).status_code == 201
    for provider in ("aws", "gcp"):
        storage = storage_of(provider, locked=True)
        use_storage(organization, storage)
        list(move_records(caller=callers.command_line(organization.pk)))
        assert Entry.objects.get().target.provider == provider
        assert lock_of(storage, keys_of(Entry.objects.get())[0]) == (None, None)


def test_what_is_moved_put_back_or_finished_later_is_locked_too(
    api, organization, storage_of, use_storage, policy, lock_of, tmp_path
):
    policy[organization.pk] = DAYS
    assert api.ingest(RAW).status_code == 201
    storage = storage_of("gcp", locked=True)
    vault = vaults.of(use_storage(organization, storage).pk)
    list(move_records(caller=callers.command_line(organization.pk)))
    entry = Entry.objects.get()
    key = keys_of(entry)[0]
    wanted = entry.received_at + timedelta(days=DAYS)
    assert is_about(lock_of(storage, key)[0], wanted)

    (tmp_path / key).parent.mkdir(parents=True)
    (tmp_path / key).write_bytes(objects.get(vault, organization.pk, entry.pk))
    storage.remove(name_in(storage, key))
    assert [finding for _, finding in services.repair_vaults(stray=tmp_path)] == [services.Found.REPAIRED]
    assert is_about(lock_of(storage, key)[0], wanted)

    storage.faults.add(503, method="POST", times=2)
    assert api.ingest({"decision_id": "loan-2"}).status_code == 503
    storage.faults.clear()
    WaitingObject.objects.update(lease_until=None)
    assert services.reconcile() == (1, 0)
    later = Entry.objects.exclude(pk=entry.pk).get()
    assert is_about(lock_of(storage, keys_of(later)[0])[0], later.received_at + timedelta(days=DAYS))


def test_for_storage_without_locks_nobody_is_asked(api, filesystem_vault, monkeypatch):
    monkeypatch.setattr(lock_periods, "_days_of", lambda organization_id: pytest.fail("it was asked"))
    assert api.ingest(RAW).status_code == 201


def test_one_app_knows_the_policies(monkeypatch):
    monkeypatch.setattr(lock_periods, "_days_of", None)
    assert lock_periods.days_of(None) is None
    lock_periods.register(lambda organization_id: 7)
    assert lock_periods.days_of(None) == 7
    with pytest.raises(ImproperlyConfigured):
        lock_periods.register(lambda organization_id: 8)
