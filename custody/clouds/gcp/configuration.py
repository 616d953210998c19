"""Google Cloud: Cloud Storage for records, Cloud KMS for keys."""

import uuid
from typing import Annotated, Any

from google.auth.transport.requests import AuthorizedSession
from google.cloud.storage import Client

from config.clouds import google, name_patterns
from config.vetted_http import Connections
from custody.clouds.configuration import CloudConfiguration, CloudRefusal, Endpoint, Prefix, SecretRef, like

_KMS = "https://cloudkms.googleapis.com"
_STORAGE = "https://storage.googleapis.com"
_KEY = r"projects/[a-z][a-z0-9.:-]{1,127}/locations/[a-z0-9-]{1,63}/keyRings/[\w-]{1,63}/cryptoKeys/[\w-]{1,63}"

STORAGE_PERMISSIONS = (
    "storage.objects.create",
    "storage.objects.get",
    "storage.objects.list",
    "storage.objects.delete",
)
"""Permissions of a vault on its objects."""
LOCKED_STORAGE_PERMISSIONS = ("storage.objects.setRetention", "storage.objects.update")
"""Further permissions, where objects have their own retention."""
WRAPPING_PERMISSIONS = ("cloudkms.cryptoKeyVersions.useToEncrypt", "cloudkms.cryptoKeyVersions.useToDecrypt")
SIGNING_PERMISSIONS = ("cloudkms.cryptoKeyVersions.useToSign", "cloudkms.cryptoKeyVersions.viewPublicKey")


class NoServiceAccount(CloudRefusal):
    """The secret is not the key of a service account."""

    def __init__(self) -> None:
        super().__init__(
            "The secret is not the key of a service account.",
            "Store the complete JSON file that Google created for the account where secret_ref points.",
        )


class Configuration(CloudConfiguration, use_attribute_docstrings=True):
    bucket: Annotated[
        str,
        like(name_patterns.GCP_BUCKET, "A bucket's name has lowercase letters, digits, dots, hyphens and underscores."),
    ]
    """Enter the bucket for records."""
    prefix: Prefix = ""
    """Enter a start for the names of objects. Leave it blank for none."""
    kms_key: Annotated[str, like(_KEY, "Write projects/PROJECT/locations/LOCATION/keyRings/RING/cryptoKeys/KEY.")] = ""
    """Enter a symmetric Cloud KMS key, to wrap the keys of records."""
    signing_key: Annotated[
        str,
        like(
            _KEY + r"/cryptoKeyVersions/[1-9]\d{0,9}",
            "Write projects/…/cryptoKeys/KEY/cryptoKeyVersions/N: what signs is one version of a key.",
        ),
    ] = ""
    """Enter a version of a Cloud KMS key to sign records: EC_SIGN_ED25519 or EC_SIGN_P256_SHA256."""
    secret_ref: SecretRef
    """Enter a reference to the JSON key of a service account."""
    endpoint: Endpoint = ""
    """Enter the address of Cloud Storage. Leave it blank for Google's."""
    kms_endpoint: Endpoint = ""
    """Enter the address of Cloud KMS. Leave it blank for Google's."""


def service_account_key(configuration: Configuration, *, organization_id: uuid.UUID) -> dict[str, Any]:
    """Return the service account's key that a configuration names.

    Raises:
        NoServiceAccount
        SecretUnavailable
    """
    try:
        return google.service_account_key(configuration.secret(organization_id))
    except ValueError:
        raise NoServiceAccount from None


def storage(
    configuration: Configuration,
    connections: Connections,
    key: dict[str, Any],
    *,
    scope: str = google.CHANGE_STORAGE,
) -> Client:
    """Return a client of Cloud Storage. Raises NoServiceAccount."""
    try:
        return google.storage_client(connections, key, scope=scope, endpoint=configuration.endpoint.rstrip("/"))
    except ValueError:
        raise NoServiceAccount from None


def session(connections: Connections, key: dict[str, Any], *, scope: str = google.USE_KEYS) -> AuthorizedSession:
    """Return a session for JSON requests to Cloud KMS, at addresses from `kms_url`. Raises NoServiceAccount."""
    try:
        return google.session(connections, key, scope=scope)
    except ValueError:
        raise NoServiceAccount from None


def storage_url(configuration: Configuration, path: str = "") -> str:
    """Return the address of the bucket, or of something in it, in the JSON API."""
    return f"{(configuration.endpoint or _STORAGE).rstrip('/')}/storage/v1/b/{configuration.bucket}{path}"


def kms_url(configuration: Configuration, resource: str) -> str:
    """Return the address of a key, or of an operation on it, such as `…/cryptoKeys/KEY:encrypt`."""
    return f"{(configuration.kms_endpoint or _KMS).rstrip('/')}/v1/{resource}"
