"""Google Cloud Storage."""

from typing import Any

from google.auth.transport.requests import AuthorizedSession, Request
from google.cloud.storage import Client
from google.oauth2 import service_account

from config.vetted_http import Connections, VettedSession

_SCOPE = "https://www.googleapis.com/auth/devstorage.read_only"
_ENDPOINT = "https://storage.googleapis.com"


class _Session(VettedSession, AuthorizedSession):
    pass


def storage_client(connections: Connections, key: dict[str, Any], *, endpoint: str = "") -> Client:
    """A client of Google Cloud Storage that may read.

    Args:
        key: of a service account, as Google hands it out. Other kinds of credentials may name files and commands.

    Raises:
        ValueError: it is no key of a service account.
    """
    if key.get("type") != "service_account":
        raise ValueError("no key of a service account")
    credentials = service_account.Credentials.from_service_account_info(key, scopes=[_SCOPE])
    session = _Session(credentials, auth_request=Request(session=connections.session()))
    connections.mount(session)
    return Client(
        project=str(key.get("project_id", "")),
        credentials=credentials,
        _http=session,
        client_options={"api_endpoint": endpoint or _ENDPOINT},
    )
