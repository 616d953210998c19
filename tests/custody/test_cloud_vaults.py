"""Cloud vaults during faults and unexpected changes: no wrong answer is believed, no record lost or doubled."""

import itertools
import time
from functools import partial
from threading import Thread, current_thread
from urllib.parse import unquote

import pytest

from custody import vaults
from custody.clouds import vault as cloud
from custody.models import Installation, StorageTarget
from custody.vaults import VaultNotMarked, VaultOfAnother, VaultUnavailable
from tests.custody.cloud_storage import PROVIDERS
from tests.system.live import wait_until
from tests.threads import HANGS_SECONDS, at_once

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.usefixtures("marker_asked_for")]

KEY = "0a/records/ff/ff00"
USES = {
    "put_new": lambda vault: vault.put_new(KEY, b"x"),
    "get": lambda vault: vault.get(KEY),
    "has": lambda vault: vault.has(KEY),
    "delete": lambda vault: vault.delete(KEY),
    "list": lambda vault: list(vault.list("0a/records/")),
    "probe": lambda vault: vault.probe(),
}
FAULTS = [503, 429, "timeout", "reset"]


@pytest.fixture(params=PROVIDERS)
def storage(request, storage_of):
    return storage_of(request.param)


@pytest.fixture
def vault(storage, use_storage, organization):
    return vaults.of(use_storage(organization, storage).pk)


# ── faults ──


def test_a_put_that_fails_before_or_after_its_effect_can_be_repeated(vault, storage, monkeypatch, subtests):
    path = "/upload" if storage.provider == "gcp" else ""  # tokens are requested with POST, too
    for number, (fault, after) in enumerate(itertools.product(FAULTS, [False, True])):
        key = f"{KEY}{number}"
        if fault == "timeout":
            with monkeypatch.context() as patched:  # so that only the put has little time
                patched.setattr(cloud, "MARKED_SECONDS", HANGS_SECONDS)
                vault.require_marker()
            vault.connections.request_seconds = 0.3
        storage.faults.add(fault, method=storage.put_method, path=path, after=after)
        with subtests.test(f"{fault} {'after' if after else 'before'}"):
            with pytest.raises(VaultUnavailable):
                vault.put_new(key, b"x")
            vault.connections.request_seconds = HANGS_SECONDS
            wait_until(lambda: not storage.faults.coming, "the request has arrived")
            assert vault.put_new(key, b"x") is not after
            assert vault.get(key) == b"x"


def test_no_use_takes_a_fault_for_an_answer(vault, storage):
    vault.put_new(KEY, b"x")
    for use, fault in itertools.product((use for use in USES if use != "put_new"), (503, 403, "reset")):
        for skipped in itertools.count():  # each request of this use fails in turn, including that for the marker
            seen = len(storage.front.requests)
            failing = _fail_at(storage, skipped, fault)
            try:
                USES[use](vault)
            except VaultUnavailable:
                assert failing.hit
            else:
                assert not failing.hit, (use, fault, skipped)
                break
            finally:
                failing.end()
            vault.put_new(KEY, b"x")
            assert len(storage.front.requests) > seen


class _fail_at:
    """Fail the request after so many others."""

    def __init__(self, storage, skipped, fault):
        self._storage, self._left, self._fault, self.hit = storage, skipped, fault, False
        self._take, storage.front.faults.take = storage.front.faults.take, self.take

    def take(self, request):
        if self.hit or request.path.endswith("/token"):
            return None
        self._left -= 1
        if self._left >= 0:
            return None
        self.hit = True
        self._storage.faults.add(self._fault)
        return self._take(request)

    def end(self):
        del self._storage.front.faults.take


def those_that_do_not_raise(vault, error):
    """Return the uses of a vault that do not raise the error."""
    wrong = []
    for use, call in USES.items():
        try:
            call(vault)
        except error:
            continue
        except Exception as other:
            wrong.append((use, other))
        else:
            wrong.append(use)
    return wrong


def test_a_missing_bucket_is_not_an_empty_one(vault, storage):
    vault.put_new(KEY, b"x")
    storage.drop()
    assert those_that_do_not_raise(vault, VaultUnavailable) == []


@pytest.mark.parametrize("marker", [None, b"", b"This is the vault of another.\n"])
def test_a_bucket_without_its_marker_stores_and_returns_nothing(vault, storage, marker):
    vault.put_new(KEY, b"x")
    storage.remove(storage.marker)
    if marker is not None:
        storage.replace(storage.marker, marker)
    before = storage.names()
    assert those_that_do_not_raise(vault, VaultNotMarked if marker is None else VaultOfAnother) == []
    assert storage.names() == before


def test_a_missing_object_is_believed_only_beside_the_marker(vault, storage, monkeypatch):
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 3600)
    assert not vault.has(KEY)
    storage.remove(storage.marker)
    with pytest.raises(VaultNotMarked):
        vault.get(KEY)
    vault.installation = Installation.objects.get().uid
    with pytest.raises(VaultNotMarked):
        vault.has(KEY)


def test_an_object_that_arrives_damaged_is_not_stored(vault, storage):
    answer = storage.front.answer

    def flip(request):
        if b"the record" in request.body:
            request = request._replace(body=request.body.replace(b"the record", b"The record"))
        return answer(request)

    storage.front.answer = flip
    with pytest.raises(VaultUnavailable):
        vault.put_new(KEY, b"the record")
    storage.front.answer = answer
    assert not vault.has(KEY)


def test_a_refused_address_is_not_contacted(vault, storage, settings):
    settings.ALLOWED_PRIVATE_HOSTS = []
    before = len(storage.front.requests)
    vaults.forget()
    fresh = vaults.of(StorageTarget.objects.get(provider=storage.provider).pk)
    with pytest.raises(VaultUnavailable, match="not on the public internet"):
        fresh.get(KEY)
    assert storage.front.requests[before:] == []


def test_no_library_requests_in_background_threads(storage, use_storage, organization, monkeypatch):
    start, begun, own = Thread.start, [], current_thread()  # the emulators start theirs in other threads

    def note(thread):
        if current_thread() is own:
            begun.append(thread)
        start(thread)

    monkeypatch.setattr(Thread, "start", note)
    vault = vaults.of(use_storage(organization, storage).pk)
    assert those_that_do_not_raise(vault, VaultUnavailable) == [*USES]
    assert begun == []


def test_no_request_is_logged(vault, caplog):
    vault.put_new(KEY, b"x")
    assert caplog.text == ""


# ── contents ──


def test_a_list_covers_all_pages(vault, storage, monkeypatch):
    if storage.provider == "aws":
        events = vault.client.meta.events
        events.register("provide-client-params.s3.ListObjectsV2", lambda params, **_: {**params, "MaxKeys": 3})
    elif storage.provider == "gcp":
        monkeypatch.setattr("tests.support.gcs_server._PAGE", 3)
    else:
        names = vault.client.list_blob_names
        monkeypatch.setattr(vault.client, "list_blob_names", partial(names, results_per_page=3))
    keys = [f"0a/records/{number:02}/{number:02}00" for number in range(10)]
    for key in keys:
        vault.put_new(key, b"x")
    before = len(storage.front.requests)
    assert sorted(vault.list("0a/records/")) == keys
    assert len(storage.front.requests) - before == 1 + 4, "the marker, and four pages"


def test_deleting_leaves_no_version(vault, storage):
    before = storage.names()
    for body in (b"1", b"2"):
        vault.put_new(KEY, body)
        storage.replace(f"{storage.config['prefix']}/{KEY}", b"by another writer")
    vault.put_new(KEY + "0", b"a neighbour with a longer name")
    vault.delete(KEY)
    assert sorted(storage.names()) == sorted([*before, f"{storage.config['prefix']}/{KEY}0"])


def test_a_probe_changes_nothing_and_proves_that_a_put_is_allowed(vault, storage):
    before = storage.names()
    vault.probe()
    assert storage.names() == before
    storage.faults.add(403, method=storage.put_method)
    with pytest.raises(VaultUnavailable):
        vault.probe()


def test_the_marker_is_put_once_and_another_installation_s_stays(vault, storage):
    before = storage.names()
    vault.mark(Installation.objects.get().uid)
    assert storage.names() == before
    storage.replace(storage.marker, b"This is the vault of another.\n")
    with pytest.raises(VaultOfAnother):
        vault.mark(Installation.objects.get().uid)


def test_storage_that_overwrites_objects_is_not_marked(storage_of, use_storage, organization):
    storage = storage_of("gcp")
    answer = storage.front.answer
    storage.front.answer = lambda request: answer(
        request._replace(query={name: value for name, value in request.query.items() if name != "ifGenerationMatch"})
    )
    with pytest.raises(VaultUnavailable, match="replaces objects"):
        use_storage(organization, storage)
    storage.front.answer = answer


# ── speed and waiting ──


def test_connections_are_kept_open_between_puts_of_many_threads(vault, storage, monkeypatch):
    made = []
    connect = cloud.Connections.connect
    monkeypatch.setattr(cloud.Connections, "connect", lambda *args, **named: made.append(1) or connect(*args, **named))
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 3600)
    at_once(8, lambda thread: [vault.put_new(f"0a/records/{thread:02}/{number:02}", b"x") for number in range(5)])
    assert len(made) <= 8


def markers_sought(storage) -> int:
    """Count the requests for markers, without those for tokens and second ones for an object."""
    return sum("MARKER" in unquote(request.target) for request in storage.front.requests)


def test_a_marker_that_was_just_seen_is_not_looked_up_again(vault, storage, monkeypatch):
    monkeypatch.setattr(cloud, "MARKED_SECONDS", 3600)
    vault.require_marker()
    before = markers_sought(storage)
    for number in range(10):
        vault.put_new(f"0a/records/00/{number:02}", b"x")
    assert markers_sought(storage) == before > 0


def test_while_a_bucket_fails_one_thread_retries_and_none_waits_for_it(vault, storage, monkeypatch):
    monkeypatch.setattr(cloud, "FAILING_SECONDS", 3600)
    storage.faults.add(503, times=1000)
    with pytest.raises(VaultUnavailable):
        vault.put_new(KEY, b"x")
    before = len(storage.front.requests)

    def refused(_):
        with pytest.raises(VaultUnavailable):
            vault.put_new(KEY, b"x")

    at_once(8, refused)
    assert len(storage.front.requests) == before
    monkeypatch.setattr(vault, "_failing_until", time.monotonic() - 1)
    storage.faults.clear()
    with vault._marker_lock:  # another thread is retrying
        refused(0)
    assert vault.put_new(KEY, b"x")
