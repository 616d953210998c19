"""Guarantees of every vault, and further ones of the filesystem vault."""

import os
import shutil
import stat
import uuid
from datetime import UTC, datetime
from functools import partial

import pytest

from custody import vaults
from custody.models import object_key
from custody.vaults import ObjectMissing, Remains, VaultUnavailable
from tests.custody.cloud_storage import PROVIDERS
from tests.threads import at_once

KEY = "0a/records/ff/ff00"


EACH = ["database", *(pytest.param(place, marks=pytest.mark.once) for place in ("filesystem", *PROVIDERS))]
LOCKED = [pytest.param(f"{provider}, locked", marks=pytest.mark.once) for provider in PROVIDERS]


@pytest.fixture(params=EACH)
def vault(request, db):
    """Run a test with each vault."""
    return made_vault(request)


@pytest.fixture(params=[*EACH, *LOCKED])
def each_vault_and_lock(request, db):
    """Run a test with each vault, those in clouds also with object locks, for puts and deletes."""
    return made_vault(request)


def made_vault(request):
    provider, _, lock = request.param.partition(", ")
    if provider in PROVIDERS:
        storage = request.getfixturevalue("storage_of")(provider, locked=bool(lock))
        use_storage = request.getfixturevalue("use_storage")
        return vaults.of(use_storage(request.getfixturevalue("organization"), storage).pk)
    if provider == "filesystem":
        request.getfixturevalue("filesystem_vault")
    return vaults.current()


def test_an_object_is_returned_byte_for_byte(vault):
    body = bytes(range(256)) * 100
    assert vault.put_new(KEY, body)
    assert vault.get(KEY) == body


def test_an_empty_object_is_an_object(vault):
    assert vault.put_new(KEY, b"")
    assert vault.get(KEY) == b""


def test_a_put_may_set_a_time_until_which_the_object_is_retained(each_vault_and_lock):
    vault = each_vault_and_lock
    assert vault.put_new(KEY, b"x", retain_until=datetime(2036, 1, 1, tzinfo=UTC))
    assert vault.get(KEY) == b"x"


def test_a_stored_object_is_never_replaced(each_vault_and_lock):
    vault = each_vault_and_lock
    assert vault.put_new(KEY, b"first")
    for second in (b"other", b"first", b""):
        assert not vault.put_new(KEY, second)
        assert vault.get(KEY) == b"first"


def test_a_missing_object_is_distinguished_from_an_outage(vault):
    with pytest.raises(ObjectMissing):
        vault.get(KEY)


def test_a_deleted_object_is_gone_and_its_key_is_free(each_vault_and_lock):
    vault = each_vault_and_lock
    vault.put_new(KEY, b"first")
    vault.delete(KEY)
    with pytest.raises(ObjectMissing):
        vault.get(KEY)
    assert list(vault.list("0a/records/")) == []
    assert vault.put_new(KEY, b"second")


def test_deleting_a_missing_object_is_not_an_error(vault):
    vault.delete(KEY)
    vault.delete("never/seen")


def test_a_list_has_exactly_the_keys_below_its_prefix(vault):
    organization, other = uuid.uuid4(), uuid.uuid4()
    ours = [object_key(organization, uuid.uuid4()) for _ in range(6)]
    for key in [*ours, object_key(other, uuid.uuid4()), f"{organization.hex}/keys/aa/aa00"]:
        vault.put_new(key, b"x")
    assert sorted(vault.list(f"{organization.hex}/records/")) == sorted(ours)
    assert list(vault.list(f"{uuid.uuid4().hex}/records/")) == []


def test_erasing_reports_that_nothing_remains(each_vault_and_lock):
    vault = each_vault_and_lock
    assert vault.erase(KEY) == Remains()
    vault.put_new(KEY, b"x")
    assert vault.erase(KEY) == Remains()
    assert not vault.has(KEY)


def test_a_journal_can_be_stored_beside_the_records(each_vault_and_lock):
    vault = each_vault_and_lock
    organization = uuid.uuid4()
    folder = f"{organization.hex}/journal/"
    keys = [f"{folder}{number:016x}{uuid.uuid4().hex}" for number in range(3)]
    for key in keys:
        assert vault.put_new(key, key.encode(), lockable=False)
        assert not vault.put_new(key, b"other", lockable=False)
    vault.put_new(object_key(organization, uuid.uuid4()), b"x")
    assert sorted(vault.list(folder)) == keys
    assert [vault.get(key) for key in keys] == [key.encode() for key in keys]


def test_a_vault_reports_what_it_has(vault):
    assert not vault.has(KEY)
    vault.put_new(KEY, b"x")
    assert vault.has(KEY)


@pytest.fixture(params=EACH)
def shared_vault(shared_database, request):
    return made_vault(request)


def test_of_concurrent_puts_of_one_key_exactly_one_creates(shared_vault):
    created = at_once(10, lambda number: shared_vault.put_new(KEY, b"%d" % number))
    assert created.count(True) == 1
    assert shared_vault.get(KEY) == b"%d" % created.index(True)


KEYS_THAT_LEAVE = [
    "../outside", "a/../../outside", "/etc/passwd", "a/..", "a/./b", "a//b", "a/", "/a", "", "alone", "A/B", "a/b.c",
    "a/.hidden", "a\\b/c", "a/b\n", "a/b\x00", "ä/b",
]  # fmt: skip


@pytest.mark.once
def test_the_filesystem_vault_refuses_a_key_outside_of_its_directory(filesystem_vault):
    vault = vaults.current()

    def there():
        return sorted([*filesystem_vault.parent.iterdir(), *filesystem_vault.rglob("*")])

    before = there()
    for key in KEYS_THAT_LEAVE:
        for use in (partial(vault.put_new, body=b"x"), vault.get, vault.delete):
            with pytest.raises(ValueError, match="vault key"):
                use(key)
    assert there() == before


@pytest.mark.once
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_files_are_0600_and_directories_0700_whatever_the_umask(filesystem_vault, umask):
    before = os.umask(umask)
    try:
        vaults.current().put_new(KEY, b"x")
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in filesystem_vault.rglob("*")}
    assert len(modes) == 5, "the marker, three directories and the object"
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())


@pytest.mark.once
def test_a_put_leaves_no_draft_behind(filesystem_vault):
    vaults.current().put_new(KEY, b"x")
    vaults.current().put_new(KEY, b"y")
    assert {path.name for path in filesystem_vault.rglob("*") if path.is_file()} == {"MARKER", "ff00"}


@pytest.mark.once
def test_drafts_of_unfinished_puts_are_discarded_once_they_are_old(filesystem_vault):
    vault = vaults.current()
    vault.put_new(KEY, b"x")
    shard = (filesystem_vault / KEY).parent
    old, young = shard / ".draft-ff01-00000000", shard / ".draft-ff02-00000000"
    for draft in (old, young):
        draft.write_bytes(b"half a body")
    os.utime(old, (0, 0))
    vault.discard_drafts()
    assert sorted(path.name for path in shard.iterdir()) == [young.name, "ff00"]


@pytest.mark.once
def test_a_draft_is_not_an_object(filesystem_vault):
    vault = vaults.current()
    vault.put_new(KEY, b"x")
    ((filesystem_vault / KEY).parent / ".draft-ff01-00000000").write_bytes(b"half a body")
    assert list(vault.list("0a/records/")) == [KEY]


@pytest.mark.once
def test_a_vault_without_its_directory_is_unavailable_not_empty(filesystem_vault):
    shutil.rmtree(filesystem_vault)
    with pytest.raises(VaultUnavailable):
        vaults.current().get(KEY)
    with pytest.raises(VaultUnavailable):
        vaults.probe()


def test_a_vault_that_answers_is_ready(vault):
    vault.probe()
