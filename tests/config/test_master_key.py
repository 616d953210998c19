"""One master key wraps every other secret. With it and the database, a machine has all it needs."""

import base64
import os
import stat
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import token_hashing
from accounts.models import Pepper
from config import master_key
from config.management.commands import master_key_rotate
from config.secret_files import InsecureKeyFile
from config.wrapped_secrets import MasterKeyWrong
from custody.keys import keyrings
from custody.models import Key
from tests.conftest import Api

OLD, NEW = os.urandom(32), os.urandom(32)


def encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


@pytest.fixture
def api(api_without_keys: Api) -> Api:
    """Return a client of an organization without keys, so that each test creates them under its own master key."""
    return api_without_keys


def start_again() -> None:
    token_hashing.forget()
    keyrings.forget()


def test_without_a_setting_a_file_is_created_once_readable_only_by_its_owner(tmp_path) -> None:
    (first,) = master_key.load("", "", tmp_path / "keys")
    assert master_key.load("", "", tmp_path / "keys") == [first]
    assert stat.S_IMODE((tmp_path / "keys" / "master_key").stat().st_mode) == 0o600
    assert len(first) == 32


def test_a_file_that_others_can_read_is_not_used(tmp_path) -> None:
    master_key.load("", "", tmp_path)
    (tmp_path / "master_key").chmod(0o644)
    with pytest.raises(InsecureKeyFile):
        master_key.load("", "", tmp_path)


def test_a_setting_takes_precedence_and_creates_no_file(tmp_path) -> None:
    assert master_key.load(encoded(NEW), encoded(OLD), tmp_path) == [NEW, OLD]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["short", "é", encoded(bytes(31)), encoded(bytes(33)), "!" * 44])
def test_a_key_that_is_not_32_bytes_in_base64_is_refused_by_name(tmp_path, text: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="MASTER_KEY must"):
        master_key.load(text, "", tmp_path)
    with pytest.raises(ImproperlyConfigured, match="MASTER_KEY_PREVIOUS must"):
        master_key.load(encoded(NEW), text, tmp_path)
    (tmp_path / "master_key").write_bytes(text.encode())
    (tmp_path / "master_key").chmod(0o600)
    with pytest.raises(ImproperlyConfigured, match="master_key must"):
        master_key.load("", "", tmp_path)


def test_no_refusal_repeats_the_key(tmp_path) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        master_key.load("canary" + encoded(NEW), "", tmp_path)
    assert "canary" not in str(refused.value)


@pytest.fixture
def under_the_old_one(settings: Any, request: pytest.FixtureRequest) -> Any:
    """Return a client of a service whose secrets are all wrapped under OLD, with a record in custody."""
    settings.MASTER_KEYS, settings.MASTER_KEY_IS_SET = [OLD], True
    api = request.getfixturevalue("api")
    assert api.ingest({"decision_id": "a"}).status_code == 201
    start_again()
    return api


@pytest.mark.slow
def test_a_rotation_rewraps_every_secret_and_loses_none(under_the_old_one, settings: Any) -> None:
    settings.MASTER_KEYS = [NEW, OLD]
    call_command("master_key_rotate")
    settings.MASTER_KEYS = [NEW]
    start_again()
    assert {row.wrapped_by for model in (Key, Pepper) for row in model.objects.all()} == {master_key.key_id(NEW)}
    assert under_the_old_one.get("/v1/decisions/a/record").status_code == 200
    assert under_the_old_one.ingest({"decision_id": "b"}).status_code == 201


def test_a_secret_created_under_the_earlier_key_during_a_rotation_is_rewrapped(
    under_the_old_one, settings, monkeypatch
):
    settings.MASTER_KEYS = [NEW, OLD]
    rewrap, late = master_key_rotate._rewrap, []

    def while_another_process_makes_a_key(row: Any) -> None:
        rewrap(row)
        if not late:
            settings.MASTER_KEYS = [OLD]
            late.append(keyrings.new_key(under_the_old_one.organization.pk, keyrings.Purpose.SIGNING))
            late[0].retired_at = timezone.now()
            late[0].save()
            settings.MASTER_KEYS = [NEW, OLD]

    monkeypatch.setattr(master_key_rotate, "_rewrap", while_another_process_makes_a_key)
    call_command("master_key_rotate")
    assert set(Key.objects.values_list("wrapped_by", flat=True)) == {master_key.key_id(NEW)}


def test_during_a_rotation_every_secret_can_be_unwrapped(under_the_old_one, settings: Any) -> None:
    settings.MASTER_KEYS = [NEW, OLD]
    row = Key.objects.filter(purpose="wrapping").get()
    row.wrap(row.unwrap())
    row.save()
    start_again()
    assert under_the_old_one.get("/v1/decisions/a/record").status_code == 200
    call_command("master_key_rotate")  # continues where it stopped
    settings.MASTER_KEYS = [NEW]
    start_again()
    assert under_the_old_one.get("/v1/decisions/a/record").status_code == 200


def test_a_rotation_without_the_earlier_key_changes_nothing(under_the_old_one, settings: Any) -> None:
    settings.MASTER_KEYS = [NEW]
    before = [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)]
    with pytest.raises(CommandError):
        call_command("master_key_rotate")
    assert [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)] == before


def test_with_a_file_the_first_run_creates_a_key_and_the_second_wraps(api, settings: Any, tmp_path) -> None:
    settings.DATA_DIR, settings.MASTER_KEY_IS_SET = tmp_path, False
    folder = tmp_path / "keys"
    first = master_key.load("", "", folder)
    assert api.ingest({"decision_id": "a"}).status_code == 201
    call_command("master_key_rotate")
    renewed = master_key.load("", "", folder)
    assert renewed[1:] == first
    assert renewed[0] != first[0]
    settings.MASTER_KEYS = [renewed[0], *settings.MASTER_KEYS]
    call_command("master_key_rotate")
    assert {row.wrapped_by for row in Key.objects.all()} == {master_key.key_id(renewed[0])}


def test_a_concurrent_rotation_wraps_nothing_and_loses_no_key(api, settings: Any, tmp_path) -> None:
    settings.DATA_DIR, settings.MASTER_KEY_IS_SET = tmp_path, False
    (first,) = master_key.load("", "", tmp_path / "keys")
    assert api.ingest({"decision_id": "a"}).status_code == 201
    before = [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)]
    call_command("master_key_rotate")
    with pytest.raises(CommandError, match="just created"):  # it read the files before the first one wrote
        call_command("master_key_rotate")
    newest, previous = master_key.load("", "", tmp_path / "keys")
    assert (previous, newest == first) == (first, False)
    assert [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)] == before


def test_an_interrupted_key_file_is_created_again(settings: Any, api, tmp_path) -> None:
    settings.DATA_DIR, settings.MASTER_KEY_IS_SET = tmp_path, False
    (first,) = master_key.load("", "", tmp_path / "keys")
    (tmp_path / "keys" / "master_key.previous").write_bytes((tmp_path / "keys" / "master_key").read_bytes())
    (tmp_path / "keys" / "master_key.previous").chmod(0o600)
    call_command("master_key_rotate")
    newest, previous = master_key.load("", "", tmp_path / "keys")
    assert newest != previous == first


def test_a_master_key_that_unwraps_nothing_is_not_rotated(settings: Any, api, tmp_path) -> None:
    settings.DATA_DIR, settings.MASTER_KEY_IS_SET, settings.MASTER_KEYS = tmp_path, False, [os.urandom(32)]
    (first,) = master_key.load("", "", tmp_path / "keys")
    with pytest.raises(CommandError, match="right master key"):
        call_command("master_key_rotate")
    assert master_key.load("", "", tmp_path / "keys") == [first]


def test_a_secret_cannot_be_moved_to_another_row(under_the_old_one) -> None:
    one, other = Key.objects.order_by("pk")[:2]
    one.wrapped = other.wrapped
    with pytest.raises(MasterKeyWrong):
        one.unwrap()
