"""A bucket that new records no longer go to is compared with our rows once, and again only after a restore."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from custody import services, vaults
from custody.models import Entry, StorageTarget, WaitingObject
from custody.services import GroupStore, recalling, searching
from custody.services.group_store import _GroupWay
from custody.vaults import storage_targets
from decisions.models import Decision
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RAW = b'{"decision_id": "loan-1", "amount": 1.50}'


class Buckets:
    """Two buckets of an organization, which it uses one after the other."""

    def __init__(self, organization, storage_of, use_storage):
        self.organization = organization
        self.storages = {name: storage_of(name) for name in ("aws", "gcp")}
        self._use = use_storage

    def choose(self, name):
        """Use a bucket like `services.choose_cloud` does."""
        target = self._use(self.organization, self.storages[name])
        number = target.choices_made + 1
        vaults.of(target.pk).put_new(searching.choice_key(self.organization.pk, number), b"chosen\n")
        with transaction.atomic():
            storage_targets.lock()
            config = self.storages[name].config
            storage_targets.use_own(self.organization.pk, self.storages[name].provider, config, choice=number)
        storage_targets.forget()
        return target

    def search(self):
        """Let the time pass in which requests may still finish earlier reservations, then search."""
        StorageTarget.objects.exclude(retired_at=None).update(retired_at=timezone.now() - timedelta(hours=1))
        while services.search_earlier_targets():
            pass
        storage_targets.forget()

    def asked(self, name):
        return len(self.storages[name].front.requests)


@pytest.fixture
def buckets(organization, storage_of, use_storage):
    return Buckets(organization, storage_of, use_storage)


def restore(targets=None):
    """Lose all records, as in a dump from before them, in processes that start again. `targets` are as they were."""
    with unguarded():
        Decision.objects.all().delete()
        WaitingObject.objects.all().delete()
        Entry.objects.all().delete()
    for row in targets or ():
        StorageTarget.objects.filter(pk=row.pk).update(retired_at=timezone.now())
    for row in targets or ():
        row.save()
    storage_targets.forget()
    searching.forget()
    vaults.forget()


def test_no_new_record_asks_a_searched_bucket(api, buckets):
    buckets.choose("aws")
    api.ingest(RAW)
    buckets.choose("gcp")
    before = buckets.asked("aws")
    api.ingest({"decision_id": "loan-2"})
    assert buckets.asked("aws") > before, "it may hold what our rows do not tell"
    buckets.search()
    api.ingest({"decision_id": "loan-3"})  # the process checks once for a later choice
    before = buckets.asked("aws")
    for number in range(4, 7):
        assert api.ingest({"decision_id": f"loan-{number}"}).status_code == 201
    assert buckets.asked("aws") == before
    assert api.get("/v1/decisions/loan-1/record").content == RAW


def test_the_search_restores_forgotten_records(api, buckets):
    first = buckets.choose("aws")
    receipts = [api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(3)]
    restore()
    buckets.choose("gcp")
    buckets.search()
    assert set(Entry.objects.values_list("target", flat=True)) == {first.pk}
    assert [api.get(f"/v1/decisions/loan-{number}/receipt").json() for number in range(3)] == receipts


def test_after_a_restore_that_forgets_a_choice_a_record_is_not_created_again(api, buckets):
    """The dump is from before the organization returned to a bucket that had been searched."""
    first = buckets.choose("aws")
    buckets.choose("gcp")
    buckets.search()
    dump = list(StorageTarget.objects.order_by("retired_at"))
    buckets.choose("aws")
    receipt = api.ingest(RAW).json()
    restore(dump)
    assert storage_targets.current(api.organization.pk) != first
    again = api.ingest(RAW)
    assert (again.status_code, again.json()) == (200, receipt)
    assert Entry.objects.get().target == first
    assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409
    buckets.search()
    assert storage_targets.earlier(api.organization.pk).to_search == []
    assert not searching.was_forgotten(first.pk), "the choice is known again"


def test_a_slow_bucket_is_asked_by_one_record_a_minute_until_it_is_searched(api, buckets, monkeypatch):
    buckets.choose("aws")
    buckets.choose("gcp")
    monkeypatch.setattr(recalling, "_SLOW_SECONDS", -1)
    api.ingest({"decision_id": "loan-1"})
    before = buckets.asked("aws")
    assert api.ingest({"decision_id": "loan-2"}).status_code == 201
    assert buckets.asked("aws") == before


def test_records_share_commits_again_once_the_bucket_was_searched(api, buckets):
    buckets.choose("aws")
    buckets.choose("gcp")
    store = GroupStore()

    def is_direct():
        store._ways.clear()
        store._look_up(api.organization.pk)
        return isinstance(store._ways.last(api.organization.pk), _GroupWay)

    assert not is_direct()
    buckets.search()
    api.ingest({"decision_id": "loan-1"})
    assert is_direct()


def test_a_search_continues_with_the_next_folder_after_its_slice(buckets, monkeypatch):
    target = buckets.choose("aws")
    buckets.choose("gcp")
    StorageTarget.objects.filter(pk=target.pk).update(folders_searched=200)
    with monkeypatch.context() as patched:
        patched.setattr(searching, "_SECONDS", -1)
        buckets.search()
    assert StorageTarget.objects.get(pk=target.pk).folders_searched == 200
    before = buckets.asked("aws")
    buckets.search()
    assert StorageTarget.objects.get(pk=target.pk).folders_searched == 256
    assert buckets.asked("aws") - before < 2 * 56 + 5
