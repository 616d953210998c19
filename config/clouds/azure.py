"""Azure: Blob Storage, and services with a JSON API, such as Key Vault."""

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
_API_VERSION = "2021-12-02"  # emulators and Azure Stack lack the library's default version
_EARLY_SECONDS = 300
"""Replace a token this long before it expires."""


@dataclass
class Application:
    """An application of Entra ID that signs in with its secret (OAuth 2.0 client credentials)."""

    connections: Connections
    tenant_id: str
    client_id: str
    secret: str = field(repr=False)
    endpoint: str = ""
    """Address of the sign-in service, or empty for the public cloud."""
    _tokens: dict[str, AccessToken] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def get_token(self, *scopes: str, **_: Any) -> AccessToken:
        """Return a token for scopes. Clients of Azure call this.

        Raises:
            ClientAuthenticationError: Entra refuses the application. `error.reason` is Entra's code.
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
            issued = answer.json()
            return AccessToken(issued["access_token"], int(time.time()) + int(issued["expires_in"]))
        except (ValueError, KeyError, TypeError):
            refused = ClientAuthenticationError("Entra ID hands out no token.")
            refused.status_code = answer.status_code
            refused.reason = _refusal_code(answer)
            raise refused from None


def session(connections: Connections, application: Application, *, scope: str) -> requests.Session:
    """Return a session of `requests` that signs in as an application."""
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
    """Return a client of one container.

    Args:
        secret: account key or shared access signature, used if there is no `application`.
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
    is_signature = "&" in secret  # a signature's parameters are joined with &, a key is base64
    return AzureSasCredential(secret) if is_signature else AzureNamedKeyCredential(account, secret)


def error_code(error: Exception) -> str:
    """Return Azure's code of an error, such as `ContainerNotFound`, or ""."""
    code = getattr(error, "error_code", None) or ""
    return str(getattr(code, "value", code))  # the library uses an enumeration for some codes


@dataclass(frozen=True)
class _Bearer(requests.auth.AuthBase):
    application: Application
    scope: str

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self.application.get_token(self.scope).token}"
        return request


def _refusal_code(answer: requests.Response) -> str:
    """Return Entra's code of a refusal, such as `invalid_client`. Its messages repeat ids."""
    try:
        return str(answer.json().get("error", ""))[:64]
    except (ValueError, AttributeError):
        return f"HTTP {answer.status_code}"
