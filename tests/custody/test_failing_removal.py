"""No fault during a removal lets a record count as destroyed that can still be read."""

import pytest

from custody.models import data_key_key, object_key
from custody.objects import Removal
from custody.vaults import ObjectMissing, VaultNotMarked, VaultUnavailable
from tests.custody.cloud_storage import PROVIDERS
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.usefixtures("marker_asked_for")]


@pytest.fixture(params=PROVIDERS)
def provider(request):
    return request.param


class Faulty:
    """Fail one request, after so many others. If it is to time out, only that one has little time."""

    def __init__(self, record, skipped, kind, *, after):
        self.storage, self.left, self.kind, self.after, self.hit = record.storage, skipped, kind, after, False
        self.connections = record.vault.connections
        self.real, self.storage.faults.take = self.storage.faults.take, self.take
        self.give_time()

    def give_time(self):
        """Arm the fault for the requests that begin from now on."""
        is_next = self.kind == "timeout" and self.left == 0 and not self.hit
        self.connections.request_seconds = 0.3 if is_next else HANGS_SECONDS

    def take(self, request):
        if not self.hit and not request.path.endswith("/token"):
            self.left -= 1
            if self.left < 0:
                self.hit = True
                self.storage.faults.add(self.kind, after=self.after)
            self.give_time()
        return self.real(request)

    def end(self):
        del self.storage.faults.take
        self.storage.faults.clear()


# Each provider with a refusal and with an answer that is lost, and each of both before the request's effect and after
# it. That no other fault is taken for an answer is shown with the vaults.
FAULTS = [
    ("aws", 403, True), ("aws", "timeout", False),
    ("gcp", 503, False), ("gcp", "reset", True),
    ("azure", 503, True), ("azure", "reset", False),
]  # fmt: skip

LOCKED_OR_NOT = pytest.mark.parametrize(("provider", "locked"), [("aws", True), ("gcp", False), ("azure", True)])


@pytest.mark.parametrize(("provider", "kind", "after"), FAULTS)
def test_no_failing_request_lets_a_readable_record_count_as_destroyed(keep, storage_of, provider, kind, after):
    record = keep(storage_of(provider, locked=True))
    for skipped in range(40):
        failing = Faulty(record, skipped, kind, after=after)
        try:
            record.remove()
        except VaultUnavailable:
            wait_until(lambda failing=failing: failing.hit, "the request has arrived")
            is_told, _ = False, failing.end()
        else:
            is_told, _ = True, failing.end()
        assert not (is_told and record.copies()), skipped
        assert record.remove() == Removal()
        assert record.names() == [], skipped
        if not failing.hit:
            break
        record.storage.replace(record.name, record.body)
    assert not failing.hit
    assert not record.copies()
    assert skipped >= 6, "markers, lists and removals"


def test_between_the_removals_of_its_two_objects_a_record_is_already_unreadable(keep, storage_of, provider):
    record = keep(storage_of(provider, locked=True))
    key = object_key(record.organization_id, record.id)
    record.storage.faults.add(503, method="DELETE", path=key.replace("/", "%2F") if provider == "gcp" else key)
    with pytest.raises(VaultUnavailable):
        record.remove()
    assert record.names() == [record.name]
    assert not record.copies()
    with pytest.raises(ObjectMissing):
        record.get()
    assert record.remove() == Removal()


@LOCKED_OR_NOT
def test_without_permission_to_delete_no_record_counts_as_destroyed(keep, storage_of, provider, locked):
    record = keep(storage_of(provider, locked=locked))
    record.storage.faults.add(403, method="DELETE", times=1000)
    with pytest.raises(VaultUnavailable):
        record.remove()
    assert record.copies()
    record.storage.faults.clear()
    assert record.remove() == Removal()


@pytest.mark.parametrize("action", ["s3:DeleteObjectVersion", "s3:ListBucketVersions"])
def test_at_amazon_each_permission_to_delete_is_needed(keep, storage_of, amazon, monkeypatch, action):
    record = keep(storage_of("aws"))
    of_objects = {"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion"}
    of_bucket = {"s3:ListBucket", "s3:ListBucketVersions"}
    granted = [(of_objects, "arn:aws:s3:::records/*"), (of_bucket, "arn:aws:s3:::records")]
    secret = amazon.person("keeper", *((sorted(actions - {action}), resource) for actions, resource in granted))
    monkeypatch.setenv("DRS_SECRET_AWS", secret)
    record.vault._secret_until = 0.0
    with pytest.raises(VaultUnavailable, match=r"AccessDenied|keeps the data key"):
        record.remove()
    assert record.copies()


@LOCKED_OR_NOT
def test_a_bucket_without_its_marker_does_not_count_as_having_lost_a_record(keep, storage_of, provider, locked):
    record = keep(storage_of(provider, locked=locked))
    record.storage.remove(record.storage.marker)
    with pytest.raises(VaultNotMarked):
        record.remove()
    assert record.copies()


def test_a_bucket_that_is_emptied_meanwhile_does_not_count_either(keep, storage_of, monkeypatch):
    """It may be another new bucket, and the record may be where the old one was moved to."""
    record = keep(storage_of("gcp"))
    versions = record.vault.versions

    def emptied(path):
        record.storage.remove(record.storage.marker)
        record.storage.remove(record.name)
        return versions(path)

    monkeypatch.setattr(record.vault, "versions", emptied)
    with pytest.raises(VaultNotMarked):
        record.remove()


def test_an_object_that_others_keep_putting_does_not_count_as_destroyed(keep, storage_of, monkeypatch):
    record = keep(storage_of("gcp", locked=True))
    name = record.name.replace("/records/", "/keys/")
    assert name.endswith(data_key_key(record.organization_id, record.id))
    remove = record.vault.remove

    def put_again(path, version):
        remove(path, version)
        record.storage.replace(name, record.wrapped)

    monkeypatch.setattr(record.vault, "remove", put_again)
    with pytest.raises(VaultUnavailable, match="again and again"):
        record.remove()
