"""Keys are made once, readable by their owner alone, and never replaced behind the back of the records they made."""

import os
import shutil
import stat
import subprocess
import sys

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from django.conf import settings as django_settings
from django.core.checks import run_checks

from accounts import audit, services
from config.secret_files import InsecureKeyFile
from custody import keys
from custody.keys import KeyMissing, keyring
from custody.models import Key
from tests.threads import at_once

FILES = ["index.key", "signing.pem", "wrapping.key"]


def an_organization():
    return services.create_organization(name="Example Bank", owner_email="owner@bank.example", actor=audit.SYSTEM)


@pytest.fixture
def files(organization, key_directory):
    """The key files of an organization that has used its keys."""
    keyring(organization.id)
    return key_directory / organization.id.hex


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def used_again(organization):
    """The keys as a process that starts now would load them."""
    keyring.cache_clear()
    return keyring(organization.id)


def test_three_secrets_are_made_on_first_use(files, organization):
    assert sorted(contents(files)) == FILES
    assert len(set(contents(files).values())) == 3
    assert sorted(Key.objects.values_list("purpose", flat=True)) == ["index", "signing", "wrapping"]


def test_files_are_0600_and_directories_0700(files):
    for path in files.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(files.stat().st_mode) == 0o700


def test_the_directory_of_all_keys_is_0700(files):
    assert stat.S_IMODE(files.parent.stat().st_mode) == 0o700


def test_the_database_holds_no_secret(files):
    known = "".join(f"{row.key_id} {row.public_pem}" for row in Key.objects.all())
    for name, secret in contents(files).items():
        assert secret.hex() not in known
        if name == "signing.pem":
            assert secret.decode().splitlines()[1] not in known


def test_a_later_process_loads_the_same_keys_and_writes_nothing(files, organization):
    first, before = keyring(organization.id), contents(files)
    again = used_again(organization)
    assert (again.kek, again.index_key, again.signing_key_id) == (
        first.kek, first.index_key, first.signing_key_id,
    )  # fmt: skip
    assert contents(files) == before


def test_two_organizations_share_no_key(files, organization):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    ours, theirs = keyring(organization.id), keyring(other.id)
    assert not {ours.kek, ours.index_key} & {
        theirs.kek, theirs.index_key,
    }  # fmt: skip
    assert ours.signing_key_id != theirs.signing_key_id


def test_first_use_in_many_threads_at_once_gives_one_keyring(shared_database, key_directory):
    organization = an_organization()
    loaded = at_once(12, lambda _: keyring.__wrapped__(organization.id))
    assert len({(each.signing_key_id, each.kek, each.index_key) for each in loaded}) == 1
    assert Key.objects.count() == 3
    assert sorted(contents(key_directory / organization.id.hex)) == FILES


def test_first_use_in_many_processes_at_once_gives_one_keyring(shared_database, key_directory):
    organization = an_organization()
    program = (
        "import sys, uuid, django; django.setup()\n"
        "from custody.keys import keyring\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "k = keyring(uuid.UUID(sys.argv[1]))\n"
        "print(k.signing_key_id, k.kek.hex(), k.index_key.hex())\n"
    )
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DATA_DIR": str(key_directory.parent),
        "DATABASE_URL": shared_database,
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(organization.id)],
            env=environment, cwd=django_settings.BASE_DIR, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )
        for _ in range(4)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = {process.communicate()[0] for process in processes}
    assert [process.returncode for process in processes] == [0] * 4
    assert len(answers) == 1
    assert Key.objects.count() == 3


@pytest.mark.parametrize("name", FILES)
def test_a_lost_file_is_named_and_never_made_anew(files, organization, name):
    (files / name).unlink()
    with pytest.raises(KeyMissing, match=name):
        used_again(organization)
    assert not (files / name).exists()


@pytest.mark.parametrize("name", FILES)
def test_another_key_in_a_files_place_is_refused(files, organization, name):
    other = services.create_organization(name="Other", owner_email="o@other.example", actor=audit.SYSTEM)
    keyring(other.id)
    shutil.copy(files.parent / other.id.hex / name, files / name)
    with pytest.raises(KeyMissing, match=name):
        used_again(organization)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_a_file_that_holds_no_key_is_refused(files, organization, name, content):
    (files / name).write_bytes(content)
    with pytest.raises(KeyMissing, match=name):
        used_again(organization)


def test_a_signing_key_of_another_kind_is_refused(files, organization):
    pem = generate_private_key(65537, 2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (files / "signing.pem").write_bytes(pem)
    with pytest.raises(KeyMissing, match=r"signing\.pem"):
        used_again(organization)


def test_files_from_before_the_database_knew_them_are_kept(files, organization):
    """As after a crash between writing the file and the row, or a restore of an older database."""
    before = contents(files)
    Key.objects.all().delete()
    used_again(organization)
    assert contents(files) == before
    assert Key.objects.count() == 3


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_file_that_others_can_reach_is_not_used(files, organization, name, mode):
    (files / name).chmod(mode)
    with pytest.raises(InsecureKeyFile, match=name):
        used_again(organization)
    assert stat.S_IMODE((files / name).stat().st_mode) == mode


def test_the_system_check_names_every_file_that_others_can_read(files):
    assert [problem for problem in run_checks() if problem.id == "custody.E001"] == []
    for name in ("signing.pem", "index.key"):
        (files / name).chmod(0o644)
    found = [problem for problem in run_checks() if problem.id == "custody.E001"]
    assert sorted(str(files / name) in problem.msg for problem in found for name in FILES).count(True) == 2
    assert all(problem.is_serious() and "chmod 600" in problem.hint for problem in found)


def test_an_unknown_vault_is_named_by_the_system_check(settings):
    settings.CUSTODY_VAULT = "cellar"
    (problem,) = [problem for problem in run_checks() if problem.id == "custody.E002"]
    assert "'cellar'" in problem.msg
    assert "database" in problem.hint


def test_a_lost_key_file_makes_the_service_not_ready(files):
    keys.probe()
    (files / "wrapping.key").unlink()
    with pytest.raises(KeyMissing, match="wrapping"):
        keys.probe()


def test_without_its_keys_a_record_is_not_taken_and_the_answer_tells_no_path(api, key_directory):
    assert api.ingest({"decision_id": "a"}).status_code == 201
    (key_directory / api.organization.id.hex / "wrapping.key").unlink()
    keyring.cache_clear()
    response = api.ingest({"decision_id": "b"})
    assert response.status_code >= 500
    assert str(key_directory) not in response.content.decode()
    assert api.get("/v1/decisions/b").status_code == 404
