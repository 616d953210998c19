"""Custody tests of Google Cloud: what each fault fails, and what stays unproven."""

import json
from typing import Any

import pytest

from tests.custody.clouds.accounts import Account
from tests.custody.clouds.faults_of_accounts import Case, Spoil, check, check_unproven, nonsense

pytestmark = [pytest.mark.once, pytest.mark.boots]


def _google_key(name: str, state: str) -> Spoil:
    return lambda account: account.server.kms.keys[f"{_RING}/{name}"].set_state(state)


_RING = "projects/tests/locations/europe-west3/keyRings/ring/cryptoKeys"


def _revoked(*permissions: str) -> Spoil:
    return lambda account: account.server.granted["custody@tests.iam.gserviceaccount.com"].difference_update(
        permissions
    )


def _setting(name: str, value: Any = None) -> Spoil:
    def spoil(account: Account) -> None:
        settings = account.server.buckets["records"].settings
        settings.pop(name, None)
        if value is not None:
            settings[name] = value

    return spoil


def _stranger(account: Account) -> None:
    key = account.server.service_account("stranger")
    account.use_secret(json.dumps({**key, "client_email": "custody@tests.iam.gserviceaccount.com"}))


def _no_agent(account: Account) -> None:
    account.server.kms.keys[f"{_RING}/of-bucket"].bindings = []


GOOGLE: list[Case] = [
    ("wrong bucket", lambda a: {"bucket": "absent"}, "bucket", "fail", "Check bucket"),
    ("no permission", _revoked("storage.buckets.get"), "bucket", "fail", "Allow storage.buckets.get"),
    (
        "no permission for objects",
        _revoked("storage.objects.create"),
        "bucket_permissions",
        "fail",
        "Grant storage.objects.create on the bucket",
    ),
    (
        "no permission of the key",
        _revoked("cloudkms.cryptoKeys.get"),
        "wrapping_key",
        "fail",
        "Allow cloudkms.cryptoKeys.get",
    ),
    (
        "no permission to wrap",
        _revoked("cloudkms.cryptoKeyVersions.useToEncrypt"),
        "wrap",
        "fail",
        "cloudkms.cryptoKeyVersions.useToEncrypt",
    ),
    (
        "no permission to sign",
        _revoked("cloudkms.cryptoKeyVersions.useToSign"),
        "sign",
        "fail",
        "cloudkms.cryptoKeyVersions.useToSign",
    ),
    (
        "no permission to look",
        _revoked("cloudkms.cryptoKeys.getIamPolicy"),
        "storage_agent",
        "skipped",
        "cloudkms.cryptoKeys.getIamPolicy",
    ),
    ("disabled key of the bucket", _google_key("of-bucket", "DISABLED"), "bucket_key", "fail", "keys versions enable"),
    ("agent without the key", _no_agent, "storage_agent", "fail", "roles/cloudkms.cryptoKeyEncrypterDecrypter"),
    ("disabled key", _google_key("wrapping", "DISABLED"), "wrapping_key", "fail", "keys versions enable"),
    ("pending deletion", _google_key("wrapping", "DESTROY_SCHEDULED"), "wrapping_key", "fail", "keys versions restore"),
    ("disabled signing key", _google_key("signing", "DISABLED"), "signing_key", "fail", "keys versions enable"),
    ("key that is absent", lambda a: {"kms_key": f"{_RING}/absent"}, "wrapping_key", "fail", "Check kms_key"),
    ("key for something else", lambda a: {"kms_key": f"{_RING}/signing"}, "wrapping_key", "fail", "ENCRYPT_DECRYPT"),
    (
        "signing key for something else",
        lambda a: {"signing_key": f"{_RING}/wrapping/cryptoKeyVersions/1"},
        "signing_key",
        "fail",
        "EC_SIGN_ED25519",
    ),
    ("versioning off", _setting("versioning"), "versioning", "warn", "--versioning"),
    ("lock off", _setting("retentionPolicy"), "object_lock", "warn", "--retention-period"),
    (
        "soft delete",
        _setting("softDeletePolicy", {"retentionDurationSeconds": "604800"}),
        "soft_delete",
        "warn",
        "--clear-soft-delete",
    ),
    ("public bucket", _setting("iamConfiguration", {}), "public_access", "fail", "--public-access-prevention"),
    (
        "access lists",
        _setting("iamConfiguration", {"publicAccessPrevention": "enforced"}),
        "public_access",
        "warn",
        "--uniform-bucket-level-access",
    ),
    ("bad credentials", _stranger, "credentials", "fail", "Create a new key"),
    ("no service account", lambda a: a.use_secret('{"type": "authorized_user"}'), "credentials", "fail", ""),
    ("no credentials", lambda a: {"secret_ref": "env:DRS_SECRET_NONE"}, "credentials", "fail", "operator"),
    ("unreachable", lambda a: {"endpoint": "https://localhost:1"}, "bucket", "fail", "firewall"),
    ("unreachable keys", lambda a: {"kms_endpoint": "https://localhost:1"}, "wrapping_key", "fail", "firewall"),
    ("private address", lambda a: {"endpoint": "https://10.0.0.1"}, "bucket", "fail", "ALLOWED_PRIVATE_HOSTS"),
    ("nonsense", nonsense("/storage/v1/b/records"), "bucket", "fail", "Check the endpoint"),
]


@pytest.mark.parametrize("case", GOOGLE, ids=lambda case: case[0])
def test_each_negative_of_google_cloud_names_its_check_and_its_fix(of_google: Account, case: Case) -> None:
    check(of_google, case)


UNPROVEN: list[tuple[Spoil, list[str]]] = [
    (_revoked("cloudkms.cryptoKeys.getIamPolicy"), ["storage_agent"]),
    (_setting("encryption"), []),
    (_revoked("storage.objects.create"), ["storage.objects.create"]),
    (_revoked("cloudkms.cryptoKeyVersions.useToDecrypt"), ["cloudkms.cryptoKeyVersions.useToDecrypt"]),
    (_revoked("cloudkms.cryptoKeyVersions.useToSign"), ["cloudkms.cryptoKeyVersions.useToSign"]),
]


@pytest.mark.parametrize(("spoil", "names"), UNPROVEN)
def test_a_test_of_google_cloud_names_the_unproven_needs(of_google: Account, spoil: Spoil, names: list[str]) -> None:
    check_unproven(of_google, spoil, names)
