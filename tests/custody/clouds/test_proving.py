"""Each negative result of a custody test: the check that reports it, and the fix that it names."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.storage.blob import generate_account_sas, generate_container_sas

from custody.clouds.azure import configuration as azure
from tests.custody.clouds.accounts import OF_BUCKET, OF_KEYS, OF_OBJECTS, Account
from tests.support.azurite import ACCOUNT as STORAGE_ACCOUNT

pytestmark = [pytest.mark.once, pytest.mark.boots]

Spoil = Callable[[Account], dict[str, str] | None]
"""Spoils one thing: in the account or, by its return value, in the configuration."""
Case = tuple[str, Spoil, str, str, str]
"""The name of the fault, the function that makes it, the check that reports it, its status, and words of its `fix`."""


def s3(account: Account) -> Any:
    return account.server.client("s3")


def kms(account: Account) -> Any:
    return account.server.client("kms")


def _key_state(which: str, state: str) -> Spoil:
    def spoil(account: Account) -> None:
        key = account.config[which]
        kms(account).disable_key(KeyId=key)
        if state == "pending":
            kms(account).schedule_key_deletion(KeyId=key, PendingWindowInDays=7)

    return spoil


def _without(*actions: str) -> Spoil:
    """Withdraw permissions from the same identity."""

    def spoil(account: Account) -> None:
        remaining = [
            ([action for action in OF_BUCKET if action not in actions], "arn:aws:s3:::records"),
            ([action for action in OF_OBJECTS if action not in actions], "arn:aws:s3:::records/*"),
            ([action for action in OF_KEYS if action not in actions], "*"),
            ("iam:SimulatePrincipalPolicy" if "iam" not in actions else "iam:GetUser", "*"),
        ]
        account.server.allow("custody", *remaining)

    return spoil


def _denied_by_policy(account: Account, objects: str = "*") -> None:
    resource = f"arn:aws:s3:::records/{objects}"
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": resource}
    policy = {"Version": "2012-10-17", "Statement": [statement]}
    s3(account).put_bucket_policy(Bucket="records", Policy=json.dumps(policy))


def _prefix_denied_by_policy(account: Account) -> dict[str, str]:
    """Deny the folder of a prefix that is given without a slash at its end."""
    _denied_by_policy(account, "tenant/*")
    return {"prefix": "tenant"}


def _bucket_key(state: str) -> Spoil:
    """Have the bucket encrypt with another key of the customer in this state."""

    def spoil(account: Account) -> None:
        key = account.server.key()
        default = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": key}
        rules = {"Rules": [{"ApplyServerSideEncryptionByDefault": default}]}
        s3(account).put_bucket_encryption(Bucket="records", ServerSideEncryptionConfiguration=rules)
        if state != "enabled":
            kms(account).disable_key(KeyId=key)
        if state == "pending":
            kms(account).schedule_key_deletion(KeyId=key, PendingWindowInDays=7)

    return spoil


def _elsewhere(account: Account) -> dict[str, str]:
    where = {"LocationConstraint": "eu-west-1"}
    account.server.client("s3", region="eu-west-1").create_bucket(Bucket="west", CreateBucketConfiguration=where)
    return {"bucket": "west"}


def _public(account: Account) -> None:
    s3(account).delete_public_access_block(Bucket="records")


def _half_public(account: Account) -> None:
    block = {
        "BlockPublicAcls": True,
        "IgnorePublicAcls": True,
        "BlockPublicPolicy": False,
        "RestrictPublicBuckets": True,
    }
    s3(account).put_public_access_block(Bucket="records", PublicAccessBlockConfiguration=block)


def _plain_bucket(account: Account) -> dict[str, str]:
    s3(account).create_bucket(Bucket="plain")
    every = ("s3:*", "*"), ("kms:*", "*"), ("iam:SimulatePrincipalPolicy", "*")
    account.server.allow("custody", *every)
    return {"bucket": "plain"}


def _wrong_secret(account: Account) -> None:
    account.use_secret("AKIA0000000000000000:hunter2")


def _expired(account: Account) -> None:
    answer = b"<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>"
    account.answer_with(lambda request: b"GetCallerIdentity" in request.body, answer, 403)


def _nonsense(path: str = "", action: bytes = b"") -> Spoil:
    """Replace the answer to these requests."""

    def spoil(account: Account) -> None:
        account.answer_with(lambda request: path in request.path and action in request.body, b"[]")

    return spoil


ARN = "arn:aws:kms:eu-west-1:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"
AMAZON: list[Case] = [
    ("wrong bucket", lambda a: {"bucket": "absent"}, "bucket", "fail", "Check bucket"),
    ("wrong region", _elsewhere, "bucket", "fail", "Set region to eu-west-1."),
    ("no permission", _without("s3:ListBucket"), "bucket", "fail", "Allow s3:ListBucket on arn:aws:s3:::records."),
    ("no permission to read", _without("s3:GetBucketVersioning"), "versioning", "warn", "Allow s3:GetBucketVersioning"),
    (
        "no look at the lock",
        _without("iam", "s3:GetBucketObjectLockConfiguration"),
        "object_lock",
        "fail",
        "Allow s3:GetBucketObjectLockConfiguration",
    ),
    ("no permission for objects", _without("s3:PutObject"), "permissions", "fail", "Allow s3:PutObject"),
    ("no permission to look", _without("iam"), "permissions", "skipped", "Allow iam:SimulatePrincipalPolicy on arn:"),
    ("no put", _without("iam", "s3:PutObject"), "put", "fail", "Allow s3:PutObject on arn:aws:s3:::records/*"),
    ("no get", _without("iam", "s3:GetObject"), "get", "fail", "Allow s3:GetObject on arn:aws:s3:::records/*"),
    ("no get of versions", _without("iam", "s3:GetObjectVersion"), "get_version", "fail", "Allow s3:GetObjectVersion"),
    ("no look at locks", _without("iam", "s3:GetObjectRetention"), "retention", "fail", "Allow s3:GetObjectRetention"),
    ("no delete", _without("iam", "s3:DeleteObjectVersion"), "delete", "fail", "Allow s3:DeleteObjectVersion"),
    ("no list of versions", _without("s3:ListBucketVersions"), "list_versions", "fail", "Allow s3:ListBucketVersions"),
    ("no public key", _without("kms:GetPublicKey"), "public_key", "fail", "Allow kms:GetPublicKey"),
    ("bucket policy that denies a prefix", _prefix_denied_by_policy, "put", "fail", "let no bucket policy deny it"),
    ("bucket policy that denies", _denied_by_policy, "put", "fail", "let no bucket policy deny it"),
    ("disabled key of the bucket", _bucket_key("disabled"), "bucket_key", "fail", "kms:EnableKey"),
    ("disabled key of the bucket, tried", _bucket_key("disabled"), "bucket_key_wrap", "fail", "kms:EnableKey"),
    ("bucket's key pending deletion", _bucket_key("pending"), "bucket_key", "fail", "kms:CancelKeyDeletion"),
    ("no permission of the key", _without("kms:DescribeKey"), "wrapping_key", "fail", "Allow kms:DescribeKey"),
    ("no permission to wrap", _without("kms:GenerateDataKey"), "wrap", "fail", "Allow kms:GenerateDataKey"),
    ("no permission to unwrap", _without("kms:Decrypt"), "unwrap", "fail", "Allow kms:Decrypt"),
    ("no permission to sign", _without("kms:Sign"), "sign", "fail", "Allow kms:Sign"),
    ("disabled key", _key_state("kms_key", "disabled"), "wrapping_key", "fail", "kms:EnableKey"),
    ("pending deletion", _key_state("kms_key", "pending"), "wrapping_key", "fail", "kms:CancelKeyDeletion"),
    ("disabled signing key", _key_state("signing_key", "disabled"), "signing_key", "fail", "kms:EnableKey"),
    ("key of another region", lambda a: {"kms_key": ARN}, "wrapping_key", "fail", "Name a key of this region"),
    (
        "key that is absent",
        lambda a: {"kms_key": ARN.replace("eu-west-1", "us-east-1")},
        "wrapping_key",
        "fail",
        "Check",
    ),
    (
        "key for something else",
        lambda a: {"kms_key": a.config["signing_key"]},
        "wrapping_key",
        "fail",
        "ENCRYPT_DECRYPT",
    ),
    ("key of Amazon's", lambda a: {"kms_key": "alias/aws/s3"}, "configuration", "fail", "Name bucket, region"),
    ("another account's bucket", lambda a: {"account_id": "111111111111"}, "bucket", "fail", "account_id"),
    ("versioning off", _plain_bucket, "versioning", "warn", "s3:PutBucketVersioning"),
    ("lock off", _plain_bucket, "object_lock", "warn", "s3:PutObjectLockConfiguration"),
    ("public bucket", _public, "public_access", "fail", "s3:PutBucketPublicAccessBlock"),
    ("half public bucket", _half_public, "public_access", "fail", "s3:PutBucketPublicAccessBlock"),
    ("bad credentials", _wrong_secret, "credentials", "fail", "ACCESS_KEY_ID:SECRET_ACCESS_KEY"),
    ("no credentials", lambda a: {"secret_ref": "env:DRS_SECRET_NONE"}, "credentials", "fail", "operator"),
    ("expired credentials", _expired, "credentials", "fail", "Replace the secret"),
    ("unreachable", lambda a: {"endpoint": "http://localhost:1"}, "bucket", "fail", "firewall"),
    ("unreachable keys", lambda a: {"kms_endpoint": "http://localhost:1"}, "wrap", "fail", "firewall"),
    ("private address", lambda a: {"endpoint": "https://10.0.0.1"}, "bucket", "fail", "ALLOWED_PRIVATE_HOSTS"),
    ("no such host", lambda a: {"endpoint": "https://storage.invalid"}, "bucket", "fail", "endpoint"),
    ("root", lambda a: a.use_secret("test:test"), "permissions", "warn", "Use a role"),
    ("nonsense", _nonsense(action=b"GetCallerIdentity"), "credentials", "fail", "Check region and endpoints"),
    ("storage alone", lambda a: {"sts_endpoint": ""}, "credentials", "skipped", ""),
]


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
    ("nonsense", _nonsense("/storage/v1/b/records"), "bucket", "fail", "Check the endpoint"),
]


def _application(*permissions: str) -> Spoil:
    def spoil(account: Account) -> dict[str, str]:
        identity, secret = account.server.application(*permissions)
        account.use_secret(secret)
        return {"client_id": identity}

    return spoil


def _vault_key(name: str, **attributes: Any) -> Spoil:
    return lambda account: account.server.vault.keys[name][-1].attributes.update(attributes)


def _operations(account: Account) -> None:
    account.server.vault.keys["wrapping"][-1].operations = ["wrapKey"]


def _account_key(account: Account) -> dict[str, str]:
    account.use_secret(account.server.blobs.key)
    return {"tenant_id": "", "client_id": ""}


def _wrong_account_key(account: Account) -> dict[str, str]:
    account.use_secret("eHh4" + account.server.blobs.key[4:])
    return {"tenant_id": "", "client_id": ""}


def _expired_signature(account: Account) -> dict[str, str]:
    past = datetime.now(UTC) - timedelta(hours=1)
    account.use_secret(
        generate_container_sas(
            STORAGE_ACCOUNT, "records", account_key=account.server.blobs.key, permission="rl", expiry=past
        )
    )
    return {"tenant_id": "", "client_id": ""}


def _signature(permission: str) -> Spoil:
    """Sign in by a shared access signature of the account with these permissions."""

    def spoil(account: Account) -> dict[str, str]:
        signature = generate_account_sas(
            STORAGE_ACCOUNT,
            account.server.blobs.key,
            resource_types="sco",
            permission=permission,
            expiry=datetime.now(UTC) + timedelta(hours=1),
        )
        account.use_secret(signature)
        return {"tenant_id": "", "client_id": ""}

    return spoil


def _public_container(account: Account) -> None:
    account.server.blobs.client.get_container_client("records").set_container_access_policy({}, public_access="blob")


def _lock_without_permission(account: Account) -> None:
    account.server.blob_headers["x-ms-immutable-storage-with-versioning-enabled"] = "true"
    account.server.roles["notDataActions"] = ["*/immutableStorage/*"]


MICROSOFT: list[Case] = [
    ("wrong container", lambda a: {"container": "absent"}, "container", "fail", "Check account and container"),
    ("no permission", _application("arm", "get"), "container", "fail", "blobServices/containers/read"),
    (
        "no permission of the key",
        _application("arm", "blobs"),
        "wrapping_key",
        "fail",
        "Microsoft.KeyVault/vaults/keys/read",
    ),
    ("no permission to look", _application("blobs", "get"), "account", "skipped", "storageAccounts/read"),
    (
        "no permission for blobs",
        lambda a: a.server.roles.update(dataActions=["*/blobs/read"]),
        "permissions",
        "fail",
        "containers/blobs/write",
    ),
    ("disabled key", _vault_key("wrapping", enabled=False), "wrapping_key", "fail", "--enabled true"),
    ("expired key", _vault_key("wrapping", exp=time.time() - 1), "wrapping_key", "fail", "--expires"),
    ("key that expires soon", _vault_key("wrapping", exp=time.time() + 86400), "wrapping_key", "warn", "--expires"),
    ("key of the future", _vault_key("signing", nbf=time.time() + 86400), "signing_key", "fail", "--not-before"),
    (
        "pending deletion",
        lambda a: a.server.vault.delete("wrapping"),
        "wrapping_key",
        "fail",
        "az keyvault key recover",
    ),
    ("key that may not unwrap", _operations, "wrapping_key", "fail", "--ops unwrapKey wrapKey"),
    ("key for something else", lambda a: {"kms_key": a.config["signing_key"]}, "wrapping_key", "fail", "RSA"),
    ("no wrap", _application("arm", "blobs", "get", "unwrapKey", "sign"), "wrap", "fail", "keys/wrap/action"),
    ("no unwrap", _application("arm", "blobs", "get", "wrapKey", "sign"), "unwrap", "fail", "keys/unwrap/action"),
    ("no sign", _application("arm", "blobs", "get", "wrapKey", "unwrapKey"), "sign", "fail", "keys/sign/action"),
    ("no read of blobs", lambda a: a.server.refused_methods.add("GET"), "read", "fail", "blobs/read"),
    ("no write of blobs", lambda a: a.server.refused_methods.add("PUT"), "write", "fail", "blobs/write"),
    ("no delete of blobs", lambda a: a.server.refused_methods.add("DELETE"), "delete", "fail", "blobs/delete"),
    (
        "no delete of versions",
        lambda a: a.server.refused_methods.add("DELETE"),
        "delete_version",
        "fail",
        "deleteBlobVersion/action",
    ),
    ("versioning off", lambda a: a.server.blob_service.clear(), "versioning", "warn", "--enable-versioning"),
    (
        "soft delete",
        lambda a: a.server.blob_service.update(deleteRetentionPolicy={"enabled": True, "days": 7}),
        "soft_delete",
        "warn",
        "--enable-delete-retention false",
    ),
    (
        "no permission to delete versions",
        lambda a: a.server.roles.update(notDataActions=["*/deleteBlobVersion/action"]),
        "permissions",
        "fail",
        "deleteBlobVersion/action",
    ),
    (
        "no permission to lock",
        _lock_without_permission,
        "permissions",
        "fail",
        "immutableStorage/runAsSuperUser/action",
    ),
    ("lock off", lambda a: a.server.blob_headers.clear(), "object_lock", "warn", "immutability-policy"),
    ("public container", _public_container, "public_access", "fail", "--public-access off"),
    (
        "account that can be public",
        lambda a: a.server.account.update(allowBlobPublicAccess=True),
        "account",
        "warn",
        "--allow-blob-public-access false",
    ),
    ("bad credentials", lambda a: a.use_secret("hunter2"), "credentials", "fail", "client secret"),
    ("bad account key", _wrong_account_key, "container", "fail", "secret_ref"),
    ("expired signature", _expired_signature, "container", "fail", "a signature that has not expired"),
    *(
        (f"signature, {name}", _signature("rwdxlac"), name, "pass", "")
        for name in ("read", "list", "write", "delete", "delete_version")
    ),
    ("signature without list", _signature("rwdxac"), "list", "fail", "blobs/read"),
    ("account key", _account_key, "credentials", "skipped", ""),
    ("account key for a vault", _account_key, "wrapping_key", "fail", "tenant_id and client_id"),
    ("another tenant", lambda a: {"tenant_id": "other.example"}, "credentials", "fail", "Check tenant_id"),
    ("no credentials", lambda a: {"secret_ref": "env:DRS_SECRET_NONE"}, "credentials", "fail", "operator"),
    ("unreachable", lambda a: {"endpoint": "https://localhost:1/x"}, "container", "fail", "firewall"),
    ("unreachable keys", lambda a: {"kms_key": "https://localhost:1/keys/a"}, "wrapping_key", "fail", "firewall"),
    ("private address", lambda a: {"endpoint": "https://10.0.0.1/x"}, "container", "fail", "ALLOWED_PRIVATE_HOSTS"),
    ("nonsense", _nonsense("/keys/wrapping"), "wrapping_key", "fail", "Check the endpoint"),
    ("another resource group", lambda a: {"resource_group": "other"}, "account", "fail", "resource_group"),
]


def check(account: Account, case: Case) -> None:
    _, spoil, where, status, fix = case
    changes = spoil(account)
    checks = account.prove(**(changes if isinstance(changes, dict) else {}))
    check = checks[where]
    assert (check.status, fix in check.fix) == (status, True), check
    assert check.detail
    assert bool(check.fix) or status in ("pass", "skipped"), check
    assert "hunter2" not in str(checks)


@pytest.mark.parametrize("case", AMAZON, ids=lambda case: case[0])
def test_each_negative_of_aws_names_its_check_and_its_fix(of_amazon: Account, case: Case) -> None:
    check(of_amazon, case)


@pytest.mark.parametrize("case", GOOGLE, ids=lambda case: case[0])
def test_each_negative_of_google_cloud_names_its_check_and_its_fix(of_google: Account, case: Case) -> None:
    check(of_google, case)


@pytest.mark.parametrize("case", MICROSOFT, ids=lambda case: case[0])
def test_each_negative_of_azure_names_its_check_and_its_fix(of_microsoft: Account, case: Case) -> None:
    check(of_microsoft, case)


def test_an_account_in_good_order_passes_every_check(account: Account) -> None:
    checks = account.prove()
    assert {check.id: check.detail for check in checks.values() if check.status != "pass"} == {}
    assert account.not_proven == []
    assert all(check.fix == "" for check in checks.values())


def test_without_any_configuration_the_first_check_lists_the_needed_settings_and_nothing_is_sent(
    account: Account,
) -> None:
    first, *others = account.prove(**dict.fromkeys(account.config, "")).values()
    assert (first.id, first.status) == ("configuration", "fail")
    for name in account.config:
        assert name in first.fix
    assert {(check.status, check.latency_ms) for check in others} == {("skipped", 0)}


def test_a_skipped_check_names_the_check_that_failed_first(account: Account) -> None:
    _, first, *others = account.prove(secret_ref="env:DRS_SECRET_ABSENT").values()
    assert (first.id, first.status) == ("credentials", "fail")
    assert {check.detail for check in others} == {"Not asked, because the check “Credentials” failed."}


def test_an_unknown_setting_is_reported_and_the_test_continues(account: Account) -> None:
    checks = account.prove(pasword="hunter2")
    assert (checks["configuration"].status, "pasword" in checks["configuration"].detail) == ("warn", True)
    assert "hunter2" not in str(checks)
    assert {check.status for check in checks.values()} == {"pass", "warn"}


UNKNOWN: list[tuple[str, Spoil, list[str]]] = [
    ("of_amazon", _without("iam"), []),
    ("of_amazon", _bucket_key("enabled"), []),
    ("of_amazon", _without("s3:GetEncryptionConfiguration"), ["bucket_key_wrap", "bucket_key_unwrap"]),
    ("of_amazon", _without("kms:Decrypt"), ["kms:Decrypt"]),
    ("of_google", _revoked("cloudkms.cryptoKeys.getIamPolicy"), ["storage_agent"]),
    ("of_google", _setting("encryption"), []),
    ("of_microsoft", _application("blobs", "get", "wrapKey", "unwrapKey", "sign"), []),
    ("of_microsoft", _application("arm", "blobs", "get", "sign"), list(azure.WRAPPING_PERMISSIONS)),
]


@pytest.mark.parametrize(("provider", "spoil", "unproven"), UNKNOWN)
def test_a_test_names_the_unproven_needs_of_storing_and_disposing(
    request: pytest.FixtureRequest, provider: str, spoil: Spoil, unproven: list[str]
) -> None:
    account: Account = request.getfixturevalue(provider)
    changes = spoil(account)
    account.prove(**(changes or {}))
    assert account.not_proven == unproven
