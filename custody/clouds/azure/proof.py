"""Questions to Azure."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, ClassVar
from urllib.parse import parse_qsl, urlencode

import requests
from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError
from azure.storage.blob import ContainerProperties

from config.clouds.azure import STORAGE, Application, error_code
from custody.clouds.azure import configuration as azure
from custody.clouds.azure import proof_calls
from custody.clouds.azure.configuration import Configuration
from custody.clouds.azure.proof_calls import Refused
from custody.clouds.proof import (
    ABSENT,
    CallRefused,
    Cloud,
    Finding,
    Question,
    busy,
    denied,
    failed,
    json_object,
    passed,
    skipped,
    warned,
)

_ACCOUNT = r"/subscriptions/[^/?]+/resourceGroups/[^/?]+/providers/Microsoft\.Storage/storageAccounts/[^/?]+"
_VERSION = r"\?api-version=[\w.-]+"
_ABSENT = rf"/[^?]*{ABSENT}"
ALLOWED = [
    ("POST", r"/[^/?]+/oauth2/v2\.0/token"),
    ("GET", r"(/[^/?]+){1,2}\?(?!(.*&)?comp=)(.*&)?restype=container(&.*)?"),
    ("GET", _ACCOUNT + _VERSION),
    ("GET", _ACCOUNT + "/blobServices/default" + _VERSION),
    (
        "GET",
        _ACCOUNT + r"/blobServices/default/containers/[^/?]+/providers/Microsoft\.Authorization/permissions" + _VERSION,
    ),
    ("GET", r"/keys/[0-9a-zA-Z-]+(/[0-9a-f]+)?" + _VERSION),
    ("GET", _ABSENT),
    ("GET", rf"(/[^/?]+){{1,2}}\?restype=container&comp=list&prefix=[\w%.=-]*{ABSENT}(&include=[\w%]+)?"),
    ("PUT", _ABSENT + r"\?comp=metadata"),
    ("DELETE", _ABSENT + r"(\?versionid=[\w%.:-]+)?"),
    ("POST", r"/keys/[0-9a-zA-Z-]+(/[0-9a-f]+)?/(wrapkey|unwrapkey|sign)" + _VERSION),
]
"""All requests that a test may send. Metadata can only be set on a blob that exists, and no blob has this name. A user
delegation key is not among them, because it outlives the test."""
_SIGNATURE = {
    "sv", "ss", "srt", "sr", "sp", "st", "se", "sip", "spr", "sig", "si", "ses", "sdd",
    "skoid", "sktid", "skt", "ske", "sks", "skv",
}  # fmt: skip
"""Query parameters of a shared access signature, which authorizes a request and does not change what it does."""
_SOON = 30 * 86400
_OPERATIONS = {"wrapping_key": {"wrapKey", "unwrapKey"}, "signing_key": {"sign"}}
_KINDS = {"wrapping_key": ("RSA", "RSA-HSM"), "signing_key": ("EC", "EC-HSM")}
_OF_KEYS = {"Get Key", "Wrap Key", "Unwrap Key", "Sign"}
_NOT_PERMITTED = {
    "AuthorizationPermissionMismatch",
    "AuthorizationResourceTypeMismatch",
    "AuthorizationServiceMismatch",
    "AuthorizationFailed",
}


@dataclass
class Azure(Cloud):
    configuration: Configuration
    errors: ClassVar = (Refused, AzureError, ValueError)
    application: Application | None = None
    container: ContainerProperties | None = None
    blob_service: dict[str, Any] | None = None
    """The settings of the account, if Resource Manager has given them."""

    def required(self) -> tuple[str, ...]:
        return (
            *azure.CONTAINER_PERMISSIONS,
            *azure.STORAGE_PERMISSIONS,
            *(azure.LOCKED_STORAGE_PERMISSIONS if self.container is None or _is_locked(self) else ()),
            *(azure.WRAPPING_PERMISSIONS if self.configuration.kms_key else ()),
            *(azure.SIGNING_PERMISSIONS if self.configuration.signing_key else ()),
        )

    def guard(self, method: str, host: str, target: str) -> None:
        target = _unsigned(target)
        # linear: the only patterns are those of ALLOWED
        if not any(method == known and re.fullmatch(pattern, target) for known, pattern in ALLOWED):
            raise CallRefused(f"{method} {target.partition('?')[0]}")

    def read(self, session: requests.Session, url: str) -> Any:
        """Return an answer's JSON. Raises Refused."""
        answer = session.get(url)
        if answer.status_code != 200:
            raise Refused(answer)
        return json_object(answer)

    def refusal(self, error: Exception, question: Question) -> Finding:
        if isinstance(error, ClientAuthenticationError) and error.reason and not error.response:
            return failed(
                f"Entra ID does not accept the application ({error.reason}): its secret is wrong or has expired.",
                "Check tenant_id and client_id, and put a valid client secret where secret_ref points.",
            )
        if isinstance(error, ValueError) or (
            isinstance(error, AzureError) and not isinstance(error, HttpResponseError)
        ):
            return failed("The answer makes no sense.", "Check account, endpoint and the secret that secret_ref names.")
        code, status = error_code(error), _status(error)
        if status == 404:
            return _absent(question)
        if status == 403 and question.call in _OF_KEYS:
            return denied(question, "the key, with the role Key Vault Crypto User or an access policy")
        if code in _NOT_PERMITTED or (status == 403 and not code):
            return denied(question, "the container" if question.id == "container" else "the storage account")
        if status in (401, 403) or code == "InvalidAuthenticationInfo":
            return failed(
                f"The credentials are not accepted ({code or status}).",
                "Check account, and the secret that secret_ref names: a key, or a signature that has not expired. "
                "Allow this service's address in the account's network rules, if there are any.",
            )
        if status == 429 or status >= 500:
            return busy(code or str(status))
        return failed(f"The request is refused ({code or status}).", "Check account, container and endpoints.")


def _status(error: Exception) -> int:
    return int(getattr(error, "status", None) or getattr(error, "status_code", None) or 0)


def _absent(question: Question) -> Finding:
    if question.call in _OF_KEYS:
        fix = "Check the key. If it was deleted, recover it: az keyvault key recover."
        return failed("There is no such key in the vault, or it was deleted.", fix)
    if question.id == "container":
        return failed("There is no container of this name.", "Check account and container.")
    return failed("There is no such storage account.", "Check account, subscription_id and resource_group.")


def _unsigned(target: str) -> str:
    """Return a request's path and query without its shared access signature, if it has one."""
    path, _, query = target.partition("?")
    parameters = parse_qsl(query, keep_blank_values=True)
    unsigned = [(name, value) for name, value in parameters if name not in _SIGNATURE]
    if len(unsigned) == len(parameters):
        return target
    return f"{path}?{urlencode(unsigned)}" if unsigned else path


def _credentials(cloud: Azure) -> Finding:
    cloud.application = azure.application(cloud.configuration, cloud.connections, organization_id=cloud.organization_id)
    if cloud.application is None:
        return skipped("A key or a signature of the account signs each request: no sign-in is needed.")
    cloud.application.get_token(STORAGE)
    return passed(f"The application {cloud.configuration.client_id} signed in.")


def _container(cloud: Azure) -> Finding:
    client = azure.container(
        cloud.configuration, cloud.connections, cloud.application, organization_id=cloud.organization_id
    )
    cloud.container = client.get_container_properties()
    return passed("The container is there.")


def _object_lock(cloud: Azure) -> Finding:
    properties: Any = cloud.container
    if _is_locked(cloud):
        return passed("Blobs of the container can be locked one by one.")
    if properties.has_immutability_policy:
        return passed(
            "The container has an immutability policy. It keeps data keys too: no record can be destroyed meanwhile."
        )
    if properties.has_legal_hold:
        return passed("The container is under a legal hold.")
    return warned(
        "The container is not immutable: anyone who may delete blobs can delete records.",
        "Set a policy: az storage container immutability-policy create.",
    )


def _is_locked(cloud: Azure) -> bool:
    return bool(getattr(cloud.container, "immutable_storage_with_versioning_enabled", False))


def _encryption(cloud: Azure) -> Finding:
    properties: Any = cloud.container
    scope = (
        getattr(properties.encryption_scope, "default_encryption_scope", None) if properties.encryption_scope else None
    )
    if scope and scope != "$account-encryption-key":
        return passed(f"The container encrypts with the scope {scope}. Records are sealed besides.")
    return passed("The container encrypts with the account's key. Records are sealed besides.")


def _public_access(cloud: Azure) -> Finding:
    properties: Any = cloud.container
    if properties.public_access:
        return failed(
            f"The container is public: {properties.public_access}.",
            "Make it private: az storage container set-permission --public-access off.",
        )
    return passed("The container is private.")


def _of_account(cloud: Azure, path: str, version: str) -> Any:
    """Return Resource Manager's answer; None if the configuration names too little to ask."""
    named = cloud.configuration.subscription_id and cloud.configuration.resource_group
    if not named or cloud.application is None:
        return None
    session = azure.account_session(cloud.connections, cloud.application)
    return cloud.read(session, azure.account_url(cloud.configuration, path, version))


_UNNAMED = skipped(
    "Resource Manager was not asked.",
    "Set subscription_id and resource_group, and sign in as an application, to have this looked at.",
)


def _account(cloud: Azure) -> Finding:
    answer = _of_account(cloud, "", "2023-05-01")
    if answer is None:
        return _UNNAMED
    settings = answer.get("properties", {})
    if settings.get("allowBlobPublicAccess"):
        return warned(
            "The storage account lets its containers be made public.",
            "Forbid it: az storage account update --allow-blob-public-access false.",
        )
    source = settings.get("encryption", {}).get("keySource", "")
    whose = "a key of yours" if source.lower() == "microsoft.keyvault" else "keys of Microsoft's"
    return passed(f"The storage account encrypts with {whose}, and no container of it can be public.")


def _versioning(cloud: Azure) -> Finding:
    answer = _of_account(cloud, "/blobServices/default", "2023-05-01")
    if answer is None:
        return _UNNAMED
    cloud.blob_service = answer.get("properties", {})
    if cloud.blob_service.get("isVersioningEnabled"):
        return passed("Versioning is on.")
    return warned(
        "Versioning is off: what others overwrite in this container is lost.",
        "Turn it on: az storage account blob-service-properties update --enable-versioning.",
    )


def _soft_delete(cloud: Azure) -> Finding:
    if cloud.blob_service is None:
        return skipped("The settings of the storage account are not known.", _UNNAMED.fix)
    policy = cloud.blob_service.get("deleteRetentionPolicy") or {}
    if not policy.get("enabled"):
        return passed("Soft delete is off: what is destroyed is gone.")
    return warned(
        f"Soft delete is on: for {policy.get('days')} days, destroyed records can be recovered.",
        "Turn it off: az storage account blob-service-properties update --enable-delete-retention false.",
    )


def _permissions(cloud: Azure) -> Finding:
    container = f"/blobServices/default/containers/{cloud.configuration.container}"
    answer = _of_account(cloud, f"{container}/providers/Microsoft.Authorization/permissions", "2022-04-01")
    if answer is None:
        return _UNNAMED
    given = answer.get("value", [])
    of_blobs = azure.STORAGE_PERMISSIONS + (azure.LOCKED_STORAGE_PERMISSIONS if _is_locked(cloud) else ())
    missing = [
        *(name for name in azure.CONTAINER_PERMISSIONS if not _is_given(name, given, "actions", "notActions")),
        *(name for name in of_blobs if not _is_given(name, given, "dataActions", "notDataActions")),
    ]
    if missing:
        cloud.lacking["permissions"] = missing
        return failed(
            f"The application lacks {', '.join(missing)}.",
            f"Grant {', '.join(missing)}, such as with the role Storage Blob Data Owner on the container.",
        )
    return passed("The application has everything that is needed of the container.")


def _is_given(permission: str, given: Sequence[dict[str, Any]], allows: str, excepts: str) -> bool:
    return any(
        _matches(permission, grant.get(allows) or ()) and not _matches(permission, grant.get(excepts) or ())
        for grant in given
    )


def _matches(permission: str, patterns: Sequence[str]) -> bool:
    """Whether any pattern covers a permission. The customer writes the patterns: as a regular expression, several `.*`
    could take years."""
    plain = (re.sub(r"[?[]", r"[\g<0>]", pattern.lower()) for pattern in patterns)
    return any(fnmatchcase(permission.lower(), pattern) for pattern in plain)


def _key(cloud: Azure, which: str, key: str) -> Finding:
    if not key:
        return skipped(f"No {'kms_key' if which == 'wrapping_key' else which} is named.")
    answer = cloud.read(azure.key_session(cloud.connections, cloud.application, key), azure.key_url(key))
    attributes, described, now = answer.get("attributes", {}), answer.get("key", {}), time.time()
    if not attributes.get("enabled"):
        return failed("The key is disabled.", "Enable it: az keyvault key set-attributes --enabled true.")
    if now < attributes.get("nbf", 0):
        return failed(
            "The key is not valid yet.", "Change its activation date: az keyvault key set-attributes --not-before."
        )
    expires = attributes.get("exp")
    if expires is not None and now >= expires:
        return failed("The key has expired.", "Change its expiry date: az keyvault key set-attributes --expires.")
    kind, operations = described.get("kty"), set(described.get("key_ops", ()))
    is_fit = kind in _KINDS[which] and (which != "signing_key" or described.get("crv") == "P-256")
    if not is_fit:
        fix = "Name an EC key on P-256." if which == "signing_key" else f"Name a key of the type {_KINDS[which][0]}."
        return failed(f"The key cannot be used for this: it is of the type {kind}.", fix)
    if lacking := sorted(_OPERATIONS[which] - operations):
        return failed(
            f"The key does not permit {', '.join(lacking)}.",
            f"Permit it: az keyvault key set-attributes --ops {' '.join(sorted(operations | _OPERATIONS[which]))}.",
        )
    if expires is not None and expires - now < _SOON:
        return warned(
            "The key expires within 30 days.", "Change its expiry date: az keyvault key set-attributes --expires."
        )
    return passed(f"The key is enabled: {kind}, {', '.join(sorted(operations))}.")


def _wrapping_key(cloud: Azure) -> Finding:
    return _key(cloud, "wrapping_key", cloud.configuration.kms_key)


def _signing_key(cloud: Azure) -> Finding:
    return _key(cloud, "signing_key", cloud.configuration.signing_key)


_READ_KEY = "Microsoft.KeyVault/vaults/keys/read"
_READ_ACCOUNT = "Microsoft.Storage/storageAccounts/read"
_READ_SETTINGS = "Microsoft.Storage/storageAccounts/blobServices/read"
_BLOB_READ, _BLOB_WRITE, _BLOB_DELETE, _VERSION_DELETE = azure.STORAGE_PERMISSIONS
_WRAP, _UNWRAP = azure.WRAPPING_PERMISSIONS
(_SIGN,) = azure.SIGNING_PERMISSIONS
CLOUD = Azure
QUESTIONS = [
    Question("credentials", "token", "", _credentials, needs=""),
    Question(
        "container",
        "Get Container Properties",
        azure.CONTAINER_PERMISSIONS[0],
        _container,
        covers=azure.CONTAINER_PERMISSIONS,
    ),
    Question("object_lock", "", azure.CONTAINER_PERMISSIONS[0], _object_lock, needs="container"),
    Question("encryption", "", azure.CONTAINER_PERMISSIONS[0], _encryption, needs="container"),
    Question("public_access", "", azure.CONTAINER_PERMISSIONS[0], _public_access, needs="container"),
    Question("account", "Storage Accounts - Get Properties", _READ_ACCOUNT, _account, if_denied="skipped"),
    Question("versioning", "Blob Services - Get Service Properties", _READ_SETTINGS, _versioning, if_denied="skipped"),
    Question("soft_delete", "", _READ_SETTINGS, _soft_delete, needs="versioning"),
    Question(
        "permissions",
        "Permissions - List For Resource",
        "Microsoft.Authorization/permissions/read",
        _permissions,
        needs="container",
        if_denied="skipped",
        covers=azure.CONTAINER_PERMISSIONS + azure.STORAGE_PERMISSIONS + azure.LOCKED_STORAGE_PERMISSIONS,
        is_claim=True,
    ),
    Question("read", "Get Blob", _BLOB_READ, proof_calls.read, "container", covers=(_BLOB_READ,)),
    Question("list", "List Blobs", _BLOB_READ, proof_calls.list_blobs, "container"),
    Question("write", "Set Blob Metadata", _BLOB_WRITE, proof_calls.write, "container", covers=(_BLOB_WRITE,)),
    Question("delete", "Delete Blob", _BLOB_DELETE, proof_calls.delete, "container", covers=(_BLOB_DELETE,)),
    Question(
        "delete_version",
        "Delete Blob",
        _VERSION_DELETE,
        proof_calls.delete_version,
        "container",
        covers=(_VERSION_DELETE,),
    ),
    Question("wrapping_key", "Get Key", _READ_KEY, _wrapping_key),
    Question("wrap", "Wrap Key", _WRAP, proof_calls.wrap, "wrapping_key", covers=(_WRAP,)),
    Question("unwrap", "Unwrap Key", _UNWRAP, proof_calls.unwrap, "wrapping_key", covers=(_UNWRAP,)),
    Question("signing_key", "Get Key", _READ_KEY, _signing_key),
    Question("sign", "Sign", _SIGN, proof_calls.sign, "signing_key", covers=(_SIGN,)),
]
