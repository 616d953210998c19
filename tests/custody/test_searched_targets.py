"""A retired bucket is compared with our rows once, and again only after a restore. No request asks it for a record."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.core.management import CommandError, call_command
from django.db import connections, transaction
from django.utils import timezone

from accounts import callers
from custody import inspection, objects, services, vaults
from custody.models import Entry, StorageTarget, WaitingObject
from custody.services import GroupStore, searching
from custody.services.group_store import _GroupWay
from custody.vaults import storage_targets
from decisions.models import Decision
from tests.custody.searches import search
from tests.support.unguarded import unguarded
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS

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

    def asked(self, name):
        return len(self.storages[name].front.requests)

    def hang(self, name, monkeypatch):
        """Hold back a bucket's answers until the returned event is set."""
        gate, front = Event(), self.storages[name].front
        answer = front.answer

        def late(request):
            gate.wait(HANGS_SECONDS)
            return answer(request)

        monkeypatch.setattr(front, "answer", late)
        return gate


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


def problems(organization):
    """Return the problems that the check finds with objects in storage."""
    steps = inspection.check_objects(organization.pk, "")
    return [finding.problem for _, findings in steps for finding in findings if finding.problem]


def test_new_records_do_not_ask_an_earlier_bucket_that_hangs(api, buckets, monkeypatch):
    buckets.choose("aws")
    buckets.choose("gcp")
    before, gate = buckets.asked("aws"), buckets.hang("aws", monkeypatch)
    for number in range(5):
        assert api.ingest({"decision_id": f"loan-{number}"}).status_code == 201
    lines = b"\n".join(b'{"decision_id": "bulk-%d"}' % number for number in range(5))
    assert api.post("/v1/ingest/srf/batch", lines, "application/x-ndjson").getvalue().count(b'"created"') == 5
    assert buckets.asked("aws") == before
    gate.set()


def test_records_share_commits_before_the_search_has_begun(api, buckets):
    buckets.choose("aws")
    buckets.choose("gcp")
    store = GroupStore()
    store._look_up(api.organization.pk)
    assert isinstance(store._ways.last(api.organization.pk), _GroupWay)


def test_a_search_lists_a_bucket_in_pages_and_never_asks_it_again(api, buckets):
    target = buckets.choose("aws")
    for number in range(4):
        api.ingest({"decision_id": f"loan-{number}"})
    buckets.choose("gcp")
    before = buckets.asked("aws")
    assert search() == search() == 0
    assert buckets.asked("aws") == before + 3, "a list, and a look for a later choice and for the marker"
    assert StorageTarget.objects.get(pk=target.pk).folders_searched == StorageTarget.FOLDERS
    assert searching.search_earlier_targets() == 0
    assert buckets.asked("aws") == before + 3


def test_the_search_restores_forgotten_records(api, buckets):
    first = buckets.choose("aws")
    receipts = [api.ingest({"decision_id": f"loan-{number}"}).json() for number in range(3)]
    restore()
    buckets.choose("gcp")
    assert search() == 3
    assert set(Entry.objects.values_list("target", flat=True)) == {first.pk}
    assert [api.get(f"/v1/decisions/loan-{number}/receipt").json() for number in range(3)] == receipts
    assert api.ingest({"decision_id": "loan-0"}).json() == receipts[0]


def test_after_a_restore_that_forgets_a_choice_the_bucket_is_searched_again(api, buckets):
    """The dump is from before the organization returned to a bucket that had been searched."""
    first = buckets.choose("aws")
    buckets.choose("gcp")
    search()
    dump = list(StorageTarget.objects.order_by("retired_at"))
    buckets.choose("aws")
    receipt = api.ingest(RAW).json()
    restore(dump)
    assert storage_targets.current(api.organization.pk) != first
    assert search() == 1
    again = api.ingest(RAW)
    assert (again.status_code, again.json()) == (200, receipt)
    assert Entry.objects.get().target == first
    assert api.ingest(RAW.replace(b"1.50", b"2.50")).status_code == 409
    searching.forget()
    before = buckets.asked("aws")
    search()
    assert buckets.asked("aws") <= before + 2, "the choice is known again"


def test_a_record_sent_again_before_the_search_is_named_as_damage_and_both_are_kept(api, buckets):
    first = buckets.choose("aws")
    receipt = api.ingest(RAW).json()
    restore()
    second = buckets.choose("gcp")
    again = api.ingest(RAW.replace(b"1.50", b"2.50"))
    assert (again.status_code, again.json() == receipt) == (201, False)
    assert search() == 0
    entry = Entry.objects.get()
    assert entry.target == second
    assert all(objects.has(vaults.of(target.pk), entry.organization_id, entry.pk) for target in (first, second))
    (problem,) = problems(api.organization)
    assert problem.startswith("Another record of this id is stored elsewhere.")
    objects.remove(vaults.of(first.pk), entry.organization_id, entry.pk)
    assert problems(api.organization) == [], "as the guide says"


def test_a_copy_that_a_move_has_left_is_no_damage(api, buckets):
    buckets.choose("aws")
    api.ingest(RAW)
    second = buckets.choose("gcp")
    call_command("custody_move", "--organization", api.organization.slug)
    assert Entry.objects.get().target == second
    assert problems(api.organization) == []


def test_a_search_that_its_slice_interrupts_continues_with_the_next_folder(api, buckets, monkeypatch):
    target = buckets.choose("aws")
    for number in range(2):
        api.ingest({"decision_id": f"loan-{number}"})
    folders = sorted({pk.bytes[0] for pk in Entry.objects.values_list("pk", flat=True)})
    restore()
    buckets.choose("gcp")
    rows = StorageTarget.objects.filter(pk=target.pk)
    rows.update(folders_searched=250, next_folder=(folders[0] - 1) % 256)
    progress = []
    with monkeypatch.context() as patched:
        patched.setattr(searching, "_SECONDS", -1)
        for _ in range(3):
            adopted = searching.search(rows.all())
            progress.append((adopted, *rows.values_list("folders_searched", "next_folder")[0]))
    assert [adopted for adopted, _, _ in progress[:2]] == [0, 1]
    assert progress[0][1:] == (251, folders[0])
    assert progress[1][1] == 0, "another round: a record may build on the adopted one"
    assert search() == 2 - sum(adopted for adopted, _, _ in progress)
    assert rows.get().folders_searched == 256


def test_a_bucket_that_fails_stops_no_search_of_another_and_rests(api, buckets):
    lost, whole = buckets.choose("aws"), buckets.choose("gcp")
    services.choose_deployments(caller=callers.command_line(api.organization.pk))
    buckets.storages["aws"].faults.add(503, times=10_000)
    search()
    assert [StorageTarget.objects.get(pk=pk).folders_searched for pk in (lost.pk, whole.pk)] == [0, 256]
    before = buckets.asked("aws")
    search()
    assert buckets.asked("aws") == before


def test_another_organization_is_searched_while_a_bucket_hangs(
    shared_database, api, other_api, buckets, storage_of, use_storage, monkeypatch
):
    hanging = buckets.choose("aws")
    other = use_storage(other_api.organization, storage_of("azure"))
    for organization in (api.organization, other_api.organization):
        services.choose_deployments(caller=callers.command_line(organization.pk))
    StorageTarget.objects.filter(pk=other.pk).update(folders_searched=255)

    gate, vault = Event(), vaults.of(hanging.pk)
    names = vault.list

    def late(prefix):
        gate.wait(HANGS_SECONDS)
        return names(prefix)

    monkeypatch.setattr(vault, "list", late)

    def folders(target):
        return StorageTarget.objects.get(pk=target.pk).folders_searched

    def slice_of_a_worker():
        try:
            searching.search_earlier_targets()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as worker:
        running = worker.submit(slice_of_a_worker)
        try:
            wait_until(lambda: folders(other) == 256, "the other organization is searched")
            assert folders(hanging) == 0
        finally:
            gate.set()
        running.result()
    while folders(hanging) < 256:
        searching.search_earlier_targets()


def test_after_a_restore_a_lost_bucket_stops_no_adoption_from_other_storage(api, other_api, buckets, capsys):
    buckets.choose("aws")
    api.ingest({"decision_id": "loan-1"})
    buckets.choose("gcp")
    for one in (api, other_api):
        one.ingest({"decision_id": "loan-2"})
    other_api.ingest({"decision_id": "loan-3"})
    with unguarded():
        Decision.objects.filter(organization=api.organization).delete()
        Entry.objects.filter(organization=api.organization).delete()
    storage = buckets.storages["aws"]
    storage.faults.add(503, times=10_000)
    with pytest.raises(CommandError):
        call_command("custody_reconcile", "--adopt")
    shown = capsys.readouterr().out
    assert "1 adopted" in shown
    assert f"{api.organization.slug}: not listed: " in shown
    storage.faults.clear()
    call_command("custody_reconcile", "--adopt")
    assert Entry.objects.filter(organization=api.organization).count() == 2
