"""Custody tests of Azure: what each fault fails, and what stays unproven."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from azure.storage.blob import generate_account_sas, generate_container_sas

from custody.clouds.azure import configuration as azure
from tests.custody.clouds.accounts import Account
from tests.custody.clouds.faults_of_accounts import Case, Spoil, check, check_stored, check_unproven, nonsense
from tests.support.azurite import ACCOUNT as STORAGE_ACCOUNT
from tests.support.web_server import Reply, Request

pytestmark = [pytest.mark.once, pytest.mark.boots]


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
    ("nonsense", nonsense("/keys/wrapping"), "wrapping_key", "fail", "Check the endpoint"),
    ("another resource group", lambda a: {"resource_group": "other"}, "account", "fail", "resource_group"),
]


@pytest.mark.parametrize("case", MICROSOFT, ids=lambda case: case[0])
def test_each_negative_of_azure_names_its_check_and_its_fix(of_microsoft: Account, case: Case) -> None:
    check(of_microsoft, case)


UNPROVEN: list[tuple[Spoil, list[str]]] = [
    (_application("blobs", "get", "wrapKey", "unwrapKey", "sign"), []),
    (_application("arm", "blobs", "get", "sign"), list(azure.WRAPPING_PERMISSIONS)),
    (lambda a: a.server.refused_methods.add("PUT"), [azure.STORAGE_PERMISSIONS[1]]),  # which its roles allow
]


@pytest.mark.parametrize(("spoil", "names"), UNPROVEN)
def test_a_test_of_azure_names_the_unproven_needs(of_microsoft: Account, spoil: Spoil, names: list[str]) -> None:
    check_unproven(of_microsoft, spoil, names)


def test_a_blob_that_a_service_stored_despite_the_call_is_named_and_removed(of_microsoft: Account) -> None:
    container = of_microsoft.server.blobs.client.get_container_client("records")
    front = of_microsoft.server.front
    real = front.answer

    def answer(request: Request) -> Reply:
        if request.query.get("comp") != "metadata":
            return real(request)
        container.upload_blob(request.path.rpartition("/")[2], b"x")
        return Reply(headers={"ETag": '"1"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"})

    of_microsoft.environment.setattr(front, "answer", answer)
    check_stored(of_microsoft, "write", "not safe")
    assert list(container.list_blob_names()) == []
