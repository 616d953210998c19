"""Keys in files of earlier versions are imported into the database. Missing ones are not guessed."""

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.management import CommandError, call_command

from accounts import token_hashing
from accounts.models import Pepper
from config import wrapped_secrets
from config.wrapped_secrets import MasterKeyWrong, NotImported
from custody.keys import keyrings
from custody.models import Key
from tests.conftest import Api

SECRET_KEY = "the secret key of before"


@pytest.fixture
def api(api_without_keys: Api) -> Api:
    """Return a client of an organization without keys, so that each test creates them under its own master key."""
    return api_without_keys


@pytest.fixture
def before(settings, tmp_path, request) -> Path:
    """Create an installation of an earlier version, with a record in custody. Return the folder of its keys."""
    settings.DATA_DIR, settings.SECRET_KEY_IS_SET = tmp_path, False
    pepper = Pepper(generation=1)
    request.getfixturevalue("db")
    pepper.wrap(SECRET_KEY.encode())
    pepper.save()
    api = request.getfixturevalue("api")
    assert api.ingest({"decision_id": "a"}).status_code == 201
    folder = tmp_path / "keys"
    files = folder / api.organization.id.hex
    files.mkdir(parents=True)
    write(folder / "secret_key", SECRET_KEY.encode())
    for row in Key.objects.all():
        secret = row.unwrap()
        if row.purpose == "signing":
            key = Ed25519PrivateKey.from_private_bytes(secret)
            write(files / "signing.pem", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        else:
            write(files / f"{row.purpose}.key", secret)
    Key.objects.update(wrapped=b"", wrapped_by="")
    Pepper.objects.all().delete()
    start_again()
    return folder


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)


def start_again() -> None:
    token_hashing.forget()
    keyrings.forget()


def test_before_the_import_no_key_is_read_or_created(before, api):
    answer = api.get("/v1/decisions/a/record")
    assert answer.status_code == 503
    assert "keys_import" in answer.json()["detail"]
    assert Pepper.objects.count() == 0
    assert Key.objects.exclude(wrapped_by="").count() == 0


def test_before_the_import_readiness_asks_for_it_and_not_for_another_master_key(before):
    with pytest.raises(NotImported):
        wrapped_secrets.probe()
    with pytest.raises(NotImported):
        call_command("master_key_rotate")


def test_under_a_wrong_master_key_nothing_is_imported(before, settings):
    right = settings.MASTER_KEYS
    call_command("keys_import")
    Key.objects.filter(purpose="index").update(wrapped=b"", wrapped_by="")
    settings.MASTER_KEYS = [os.urandom(32)]
    with pytest.raises(MasterKeyWrong):
        call_command("keys_import")
    assert Key.objects.get(purpose="index").wrapped_by == ""
    settings.MASTER_KEYS = right
    call_command("keys_import")
    assert Key.objects.get(purpose="index").wrapped_by


def test_after_the_import_the_files_are_not_needed(before, api):
    call_command("keys_import")
    for path in before.rglob("*"):
        if path.is_file():
            path.unlink()
    start_again()
    assert api.get("/v1/decisions/a/record").status_code == 200
    assert api.ingest({"decision_id": "a"}).status_code == 200
    assert api.ingest({"decision_id": "b"}).status_code == 201


def test_a_second_import_changes_nothing(before, api):
    call_command("keys_import")
    rows = [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)]
    call_command("keys_import")
    assert [list(model.objects.order_by("pk").values()) for model in (Key, Pepper)] == rows


@pytest.mark.once
@pytest.mark.parametrize(
    ("name", "content"),
    [("index.key", None), ("index.key", b""), ("signing.pem", b"garbage"), ("signing.pem", bytes(32)),
     ("wrapping.key", b""), ("wrapping.key", bytes(32))],
)  # fmt: skip
def test_a_missing_or_wrong_file_is_named_and_the_others_are_imported(before, api, capsys, name, content):
    path = before / api.organization.id.hex / name
    path.unlink() if content is None else write(path, content)
    with pytest.raises(CommandError, match="1 missing"):
        call_command("keys_import")
    assert name in capsys.readouterr().err
    assert Key.objects.exclude(wrapped_by="").count() == 2


def test_without_the_earlier_secret_key_no_pepper_is_guessed(before, api, capsys):
    (before / "secret_key").unlink()
    with pytest.raises(CommandError):
        call_command("keys_import")
    assert "SECRET_KEY" in capsys.readouterr().err
    assert Pepper.objects.count() == 0


def test_a_secret_key_setting_takes_precedence_over_the_file_and_fallbacks_still_count(before, api, settings):
    settings.SECRET_KEY, settings.SECRET_KEY_IS_SET = "a newer one", True
    settings.SECRET_KEY_FALLBACKS = [SECRET_KEY]
    call_command("keys_import")
    start_again()
    assert api.get("/v1/decisions/a/record").status_code == 200
    assert token_hashing.peppers() == [b"a newer one", SECRET_KEY.encode()]


def test_a_file_that_others_can_read_is_refused(before, api):
    (before / api.organization.id.hex / "index.key").chmod(0o644)
    with pytest.raises(CommandError):
        call_command("keys_import")
    assert Key.objects.get(purpose="index").wrapped_by == ""
