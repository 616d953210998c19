"""Records in a cloud: stored, retained through outages, and recalled after a database restore."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from custody import services, vaults
from custody.models import Entry, SealedObject, WaitingObject, object_key
from custody.vaults import VaultUnavailable
from decisions.models import Decision
from tests.custody.cloud_storage import PROVIDERS
from tests.custody.searches import search
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RAW = b'{"decision_id": "loan-1",  "amount": 1.50}'
PATH = "/v1/decisions/loan-1"


@pytest.fixture(params=PROVIDERS)
def storage(request, storage_of):
    return storage_of(request.param)


@pytest.fixture
def target(storage, use_storage, organization):
    return use_storage(organization, storage)


def of(*providers):
    """Only these providers: the services do the same with each."""
    return pytest.mark.parametrize("storage", providers, indirect=True)


def an_older_database_is_restored():
    with unguarded():
        Decision.objects.all().delete()
        WaitingObject.objects.all().delete()
        Entry.objects.all().delete()


def outage(storage):
    storage.faults.add(503, times=10_000)


def test_a_record_is_stored_in_the_cloud_and_read_from_it(api, storage, target):
    first = api.ingest(RAW)
    assert (first.status_code, api.get(PATH).json()["custody"]) == (201, "stored")
    entry = Entry.objects.get()
    assert entry.target == target
    key = object_key(entry.organization_id, entry.pk)
    assert sorted(storage.names()) == sorted([storage.marker, f"{storage.config['prefix']}/{key}"])
    assert not SealedObject.objects.exists()
    assert api.get(PATH + "/record").content == RAW
    assert (api.ingest(RAW).status_code, api.ingest(RAW).json()) == (200, first.json())
    assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409
    assert len(storage.names()) == 2


def test_an_outage_is_a_503_and_the_reconciler_finishes_afterwards(api, other_api, storage, target):
    outage(storage)
    refused = api.ingest(RAW)
    assert (refused.status_code, refused["Retry-After"]) == (503, "5")
    assert other_api.ingest(RAW).status_code == 201, "others have storage of their own"
    assert api.get(PATH + "/record").content == RAW
    with time_machine.travel(datetime.now(UTC) + services.LEASE + timedelta(seconds=1)):
        assert services.reconcile() == (0, 1)
        storage.faults.clear()
        assert services.reconcile(retry_now=True) == (1, 0)
    assert api.get(PATH).json()["custody"] == "stored"
    assert api.ingest(RAW).status_code == 200
    assert len(storage.names()) == 2


@of("gcp")
def test_a_retry_finishes_the_record_and_so_does_bulk(api, storage, target):
    outage(storage)
    lines = b"".join(b'{"decision_id": "loan-%d"}\n' % number for number in range(12))
    assert api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson").getvalue().count(b'"unavailable"') == 12
    storage.faults.clear()
    assert api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson").getvalue().count(b'"replayed"') == 12
    assert len(storage.names()) == 13
    assert not WaitingObject.objects.exists()


def test_a_forgotten_record_is_restored_with_its_first_receipt(api, organization, storage, target):
    receipt = api.ingest(RAW).json()
    an_older_database_is_restored()
    again = api.ingest(RAW)
    assert (again.status_code, again.json()) == (200, receipt)
    an_older_database_is_restored()
    assert services.adopt_orphans(organization) == 1
    assert api.get(PATH + "/receipt").json() == receipt
    assert len(storage.names()) == 2


# ── a second target ──


@pytest.fixture
def second(target, use_storage, storage_of, storage, organization):
    """Return a function that sends new records to the next provider's bucket."""
    provider = PROVIDERS[(PROVIDERS.index(storage.provider) + 1) % len(PROVIDERS)]
    return lambda: use_storage(organization, storage_of(provider))


@pytest.mark.parametrize(
    ("storage", "spelling"), [("aws", RAW), ("azure", RAW.replace(b"  ", b" "))], indirect=["storage"]
)
def test_a_record_of_an_earlier_target_is_not_created_again(api, target, second, spelling):
    receipt = api.ingest(RAW).json()
    an_older_database_is_restored()
    new = second()
    assert search() == 1
    again = api.ingest(spelling)
    assert (again.status_code, again.json()) == (200, receipt)
    assert Entry.objects.get().target == target
    assert list(vaults.of(new.pk).list(f"{api.organization.id.hex}/")) == []
    assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409


@of("gcp")
def test_earlier_records_are_read_where_they_are(api, target, second):
    api.ingest(RAW)
    new = second()
    api.ingest({"decision_id": "loan-2"})
    assert [entry.target for entry in Entry.objects.order_by("received_at")] == [target, new]
    assert api.get(PATH + "/record").content == RAW
    assert api.get("/v1/decisions/loan-2/record").status_code == 200


@of("aws")
def test_an_outage_of_one_target_does_not_hide_a_missing_record_of_another(
    api, other_api, storage, target, second, use_storage
):
    api.ingest(RAW)
    new = second()
    api.ingest({"decision_id": "loan-2"})
    lost = Entry.objects.get(target=new)
    vaults.of(new.pk).delete(object_key(lost.organization_id, lost.pk))
    outage(storage)
    findings = services.repair_vaults()
    assert next(findings) == (lost.pk, services.Found.MISSING)
    with pytest.raises(VaultUnavailable):
        next(findings)
