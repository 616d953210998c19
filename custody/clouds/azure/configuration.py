"""Azure: Blob Storage for records, Key Vault for keys."""

import uuid
from typing import Annotated, ClassVar
from urllib.parse import urlsplit

import requests
from azure.storage.blob import ContainerClient
from pydantic import Field

from config.clouds import azure, name_patterns
from config.clouds.azure import Application
from config.vetted_http import Connections
from custody.clouds.configuration import (
    CloudConfiguration,
    CloudRefusal,
    Endpoint,
    EndpointWithPath,
    Prefix,
    SecretRef,
    like,
)

_API_VERSION = "7.4"
_ARM = "https://management.azure.com"
_VAULT = "vault.azure.net"
_UUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

Key = Annotated[
    str,
    Field(max_length=512),
    like(
        r"https://[a-zA-Z0-9.-]+(:\d{1,5})?/keys/[0-9a-zA-Z-]{1,127}(/[0-9a-f]{32})?",
        "Write https://VAULT.vault.azure.net/keys/NAME, and /VERSION if only one version is meant.",
    ),
]

_BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers"
STORAGE_PERMISSIONS = (
    f"{_BLOBS}/blobs/read",
    f"{_BLOBS}/blobs/write",
    f"{_BLOBS}/blobs/delete",
    f"{_BLOBS}/blobs/deleteBlobVersion/action",
)
"""Data actions that a vault needs on its blobs."""
LOCKED_STORAGE_PERMISSIONS = (f"{_BLOBS}/blobs/immutableStorage/runAsSuperUser/action",)
"""Further data actions, where blobs have their own locks."""
CONTAINER_PERMISSIONS = (f"{_BLOBS}/read",)
"""Actions that a vault needs on its container."""
WRAPPING_PERMISSIONS = ("Microsoft.KeyVault/vaults/keys/wrap/action", "Microsoft.KeyVault/vaults/keys/unwrap/action")
SIGNING_PERMISSIONS = ("Microsoft.KeyVault/vaults/keys/sign/action",)


class NoApplication(CloudRefusal):
    """Key Vault accepts only applications, and the configuration names none."""

    def __init__(self) -> None:
        super().__init__(
            "Key Vault takes no key of a storage account.",
            "Set tenant_id and client_id, and let secret_ref name the secret of that application.",
        )


class Configuration(CloudConfiguration, use_attribute_docstrings=True):
    credentials: ClassVar = "Set tenant_id and client_id together."
    account: Annotated[
        str, like(name_patterns.AZURE_ACCOUNT, "An account's name has 3 to 24 lowercase letters and digits.")
    ]
    """Enter the name of the storage account."""
    container: Annotated[
        str,
        Field(max_length=63),
        like(name_patterns.AZURE_CONTAINER, "A container's name has lowercase letters, digits and single hyphens."),
    ]
    """Enter the container for records."""
    prefix: Prefix = ""
    """Enter a start for the names of blobs. Leave it blank for none."""
    kms_key: Key = ""
    """Enter a Key Vault key to wrap the keys of records: RSA."""
    signing_key: Key = ""
    """Enter a Key Vault key to sign records: EC on P-256."""
    secret_ref: SecretRef
    """Enter a reference to the secret of the application `client_id`. Without one, refer to a key of the storage
    account or a shared access signature."""
    tenant_id: Annotated[str, like(rf"{_UUID}|[a-zA-Z0-9.-]{{1,253}}", "A tenant is a UUID or a domain.")] = ""
    """Enter the tenant of the application."""
    client_id: Annotated[str, like(_UUID, "An application (client) id is a UUID.")] = ""
    """Enter the application that signs in. Key Vault accepts only applications."""
    subscription_id: Annotated[str, like(_UUID, "A subscription id is a UUID.")] = ""
    """Enter the subscription of the storage account, so that the custody test can read its settings."""
    resource_group: Annotated[str, like(r"[\w().-]{0,89}[\w()-]", "Not a valid resource group.")] = ""
    """Enter the resource group of the storage account, so that the custody test can read its settings."""
    endpoint: EndpointWithPath = ""
    """Enter the address of Blob Storage. Leave it blank for Azure's."""
    login_endpoint: Endpoint = ""
    """Enter the address of Microsoft Entra ID. Leave it blank for Azure's."""
    arm_endpoint: Endpoint = ""
    """Enter the address of Azure Resource Manager. Leave it blank for Azure's."""

    def lacks_credentials(self) -> bool:
        return bool(self.tenant_id) != bool(self.client_id)


def application(
    configuration: Configuration, connections: Connections, *, organization_id: uuid.UUID
) -> Application | None:
    """Return the application that a configuration names; None where the secret is the storage account's.

    Raises:
        SecretUnavailable
    """
    if not (configuration.tenant_id and configuration.client_id):
        return None
    return Application(
        connections,
        configuration.tenant_id,
        configuration.client_id,
        configuration.secret(organization_id),
        configuration.login_endpoint,
    )


def container(
    configuration: Configuration,
    connections: Connections,
    application: Application | None,
    *,
    organization_id: uuid.UUID,
) -> ContainerClient:
    """Return a client of the container.

    Raises:
        SecretUnavailable
    """
    return azure.container_client(
        connections,
        account=configuration.account,
        container=configuration.container,
        secret="" if application else configuration.secret(organization_id),
        application=application,
        endpoint=configuration.endpoint,
    )


def key_session(connections: Connections, application: Application | None, key: str) -> requests.Session:
    """Return a session for JSON requests to a key's vault, at addresses from `key_url`.

    Raises:
        NoApplication: the configuration names no application.
    """
    if application is None:
        raise NoApplication
    domain = (urlsplit(key).hostname or "").partition(".")[2] or _VAULT
    return azure.session(connections, application, scope=f"https://{domain}/.default")


def key_url(key: str, verb: str = "") -> str:
    """Return the address of a key, or of an operation on it, such as `sign`."""
    return f"{key}/{verb}?api-version={_API_VERSION}" if verb else f"{key}?api-version={_API_VERSION}"


def account_session(connections: Connections, application: Application) -> requests.Session:
    """Return a session for JSON requests to Resource Manager, at addresses from `account_url`."""
    return azure.session(connections, application, scope=azure.RESOURCE_MANAGER)


def account_url(configuration: Configuration, path: str, version: str) -> str:
    """Return the address of the storage account in Resource Manager, or of something below it."""
    host = (configuration.arm_endpoint or _ARM).rstrip("/")
    group = f"/subscriptions/{configuration.subscription_id}/resourceGroups/{configuration.resource_group}"
    account = f"/providers/Microsoft.Storage/storageAccounts/{configuration.account}"
    return f"{host}{group}{account}{path}?api-version={version}"
