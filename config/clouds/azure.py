"""Azure: Blob Storage, and services whose JSON is spoken directly, such as Key Vault."""

import time
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import requests
from azure.core.credentials import AccessToken, AzureNamedKeyCredential, AzureSasCredential
from azure.core.exceptions import ClientAuthenticationError
from azure.core.pipeline.transport import RequestsTransport
from azure.storage.blob import ContainerClient

from config.vetted_http import Connections

STORAGE = "https://storage.azure.com/.default"
RESOURCE_MANAGER = "https://management.azure.com/.default"
_LOGIN = "https://login.microsoftonline.com"
_API_VERSION = "2021-12-02"  # emulators and Azure Stack lag behind what the library would ask for
_EARLY_SECONDS = 300
"""Before its end a token is replaced."""


@dataclass
class Application:
    """An application of Entra ID that signs in with its secret (OAuth 2.0 client credentials)."""

    connections: Connections
    tenant_id: str
    client_id: str
    secret: str = field(repr=False)
    endpoint: str = ""
    """Where it signs in, if it is not the public cloud."""
    _tokens: dict[str, AccessToken] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        """As clients of Azure ask for it.

        Raises:
            ClientAuthenticationError: the application is refused; `error.reason` is Entra's word for it.
        """
        scope = " ".join(scopes)
        with self._lock:
            token = self._tokens.get(scope)
            if token is None or token.expires_on - _EARLY_SECONDS < time.time():
                token = self._tokens[scope] = self._sign_in(scope)
            return token

    def _sign_in(self, scope: str) -> AccessToken:
        url = f"{(self.endpoint or _LOGIN).rstrip('/')}/{self.tenant_id}/oauth2/v2.0/token"
        form = {
            "grant_type": "client_credentials",
            "client_id": self.client_id,
            "client_secret": self.secret,
            "scope": scope,
        }
        answer = self.connections.session().post(url, data=form)
        try:
            said = answer.json()
            return AccessToken(said["access_token"], int(time.time()) + int(said["expires_in"]))
        except (ValueError, KeyError, TypeError):
            refused = ClientAuthenticationError("Entra ID hands out no token.")
            refused.status_code = answer.status_code
            refused.reason = _word(answer)
            raise refused from None


def session(connections: Connections, application: Application, *, scope: str) -> requests.Session:
    """A session of `requests` that signs in as an application."""
    made = connections.session()
    made.auth = _Bearer(application, scope)
    return made


def container_client(
    connections: Connections,
    *,
    account: str,
    container: str,
    secret: str = "",
    application: Application | None = None,
    endpoint: str = "",
) -> ContainerClient:
    """A client of one container.

    Args:
        secret: a key of the account, or a shared access signature, where it is no application that signs in.
    """
    return ContainerClient(
        endpoint or f"https://{account}.blob.core.windows.net",
        container,
        credential=application or _credential(account, secret),
        transport=RequestsTransport(session=connections.session(), session_owner=False),
        api_version=_API_VERSION,
        retry_total=0,
        permit_redirects=False,
        max_single_get_size=16 * 2**20,
    )


def _credential(account: str, secret: str) -> AzureSasCredential | AzureNamedKeyCredential:
    is_signature = "&" in secret  # which joins its parameters; a key is base64
    return AzureSasCredential(secret) if is_signature else AzureNamedKeyCredential(account, secret)


def error_code(error: Exception) -> str:
    """What Azure calls an error, such as `ContainerNotFound`; "" where it did not say."""
    code = getattr(error, "error_code", None) or ""
    return str(getattr(code, "value", code))  # the library has members of an enumeration for some


@dataclass(frozen=True)
class _Bearer(requests.auth.AuthBase):
    application: Application
    scope: str

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.application.get_token(self.scope).token}"
        return request


def _word(answer: requests.Response) -> str:
    """What Entra calls its refusal, such as `invalid_client`; its sentences repeat ids."""
    try:
        return str(answer.json().get("error", ""))[:64]
    except (ValueError, AttributeError):
        return f"HTTP {answer.status_code}"
