"""Google Cloud: Storage, and services whose JSON is spoken directly, such as Cloud KMS."""

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
    """The key of a service account, as Google hands it out.

    Raises:
        ValueError: it is none. Other kinds of credentials may name files and commands.
    """
    key = json.loads(secret)
    if not isinstance(key, dict) or key.get("type") != "service_account":
        raise ValueError("no key of a service account")
    return key


def session(connections: Connections, key: dict[str, Any], *, scope: str) -> AuthorizedSession:
    """A session of `requests` that signs in as a service account.

    Args:
        scope: what its tokens are good for, however much the account may do; several with spaces between them.

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
    """A client of Google Cloud Storage that may read, if nothing else is said.

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
    # For the sake of traces, it would ask about the bucket in threads of its own, whenever it likes.
    client._bucket_metadata_cache = None  # type: ignore[assignment]
    return client
