"""Google Cloud: Storage, and services with a JSON API, such as Cloud KMS."""

import json
from typing import Any

from google.auth.transport.requests import AuthorizedSession, Request
from google.cloud.storage import Client
from google.oauth2 import service_account

from config.vetted_http import Connections, VettedSession

READ_STORAGE = "https://www.googleapis.com/auth/devstorage.read_only"
CHANGE_STORAGE = "https://www.googleapis.com/auth/devstorage.full_control"
USE_KEYS = "https://www.googleapis.com/auth/cloudkms"
_STORAGE = "https://storage.googleapis.com"


class _Session(VettedSession, AuthorizedSession):
    pass


def service_account_key(secret: str) -> dict[str, Any]:
    """Return the parsed key file of a service account.

    Raises:
        ValueError: another kind of credentials, which could name files and commands.
    """
    key = json.loads(secret)
    if not isinstance(key, dict) or key.get("type") != "service_account":
        raise ValueError("no key of a service account")
    return key


def session(connections: Connections, key: dict[str, Any], *, scope: str) -> AuthorizedSession:
    """Return a session of `requests` that signs in as a service account.

    Args:
        scope: OAuth scopes that limit its tokens, separated by spaces.

    Raises:
        ValueError: the key is incomplete.
    """
    credentials = service_account.Credentials.from_service_account_info(key, scopes=scope.split())
    made = _Session(credentials, refresh_status_codes=(), auth_request=Request(session=connections.session()))
    connections.mount(made)
    return made


def storage_client(
    connections: Connections, key: dict[str, Any], *, scope: str = READ_STORAGE, endpoint: str = ""
) -> Client:
    """Return a client of Google Cloud Storage, by default for reading.

    Raises:
        ValueError: the key is incomplete.
    """
    signed_in = session(connections, key, scope=scope)
    client = Client(
        project=str(key.get("project_id", "")),
        credentials=signed_in.credentials,
        _http=signed_in,
        client_options={"api_endpoint": endpoint or _STORAGE},
    )
    # The cache would request bucket metadata for traces, in background threads.
    client._bucket_metadata_cache = None  # type: ignore[assignment]
    return client
