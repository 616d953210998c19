"""An Azure emulator: Entra ID, Key Vault and Resource Manager in this process, and azurite behind it for blobs.

All have the same address, with TLS. Applications sign in with their secret, and have the permissions they were granted.
"""

import base64
import json
import secrets
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

from tests.support.azurite import ACCOUNT, Azurite
from tests.support.blob_versions import BlobVersions
from tests.support.faults import Faults
from tests.support.forwarding import forward
from tests.support.key_vault import KeyVault
from tests.support.web_server import Reply, Request, WebServer, json_reply, web_server

TENANT = "11111111-1111-1111-1111-111111111111"
SUBSCRIPTION = "22222222-2222-2222-2222-222222222222"
GROUP = "records"


class AzureCloud:
    def __init__(self, blobs: Azurite | None) -> None:
        self.url = ""
        self.front: WebServer
        self.vault = KeyVault()
        self.blobs = blobs
        self.versions = BlobVersions(lambda request: forward(request, blobs.port, encrypted=True))  # type: ignore[union-attr]
        self.blob_headers: dict[str, str] = {}
        """Headers of the container that azurite does not send, such as a legal hold."""
        self.refused_methods: set[str] = set()
        """Methods of blob requests whose callers lack the permission."""
        self.account: dict[str, Any] = {}
        self.blob_service: dict[str, Any] = {}
        self.roles: dict[str, list[str]] = {}
        self.permissions: dict[str, set[str]] = {}
        """Permissions by application: in the vault (get, sign …), for blobs (blobs) and in general (arm)."""
        self._secrets: dict[str, str] = {}
        self._tokens: dict[str, tuple[str, str]] = {}
        self._tidy()

    @property
    def faults(self) -> Faults:
        return self.front.faults

    def reset(self) -> None:
        """Remove all containers, keys and faults, and restore the settings."""
        for container in self.blobs.client.list_containers() if self.blobs else ():
            self.blobs.client.delete_container(container.name)  # type: ignore[union-attr]
        self.vault.keys.clear()
        self.vault.deleted.clear()
        self.front.forget()
        self._tidy()

    def _tidy(self) -> None:
        self.blob_headers = {}
        self.refused_methods = set()
        self.versions.forget()
        self.account = {
            "allowBlobPublicAccess": False,
            "supportsHttpsTrafficOnly": True,
            "encryption": {"keySource": "Microsoft.Keyvault"},
        }
        self.blob_service = {"isVersioningEnabled": True}
        self.roles = {"actions": ["*"], "notActions": [], "dataActions": ["*"], "notDataActions": []}

    def application(self, *permissions: str) -> tuple[str, str]:
        """Create an application with these permissions. Return its id and secret."""
        identity = f"33333333-3333-3333-3333-{secrets.token_hex(6)}"
        self.permissions[identity] = set(permissions)
        self._secrets[identity] = secrets.token_urlsafe()
        return identity, self._secrets[identity]

    def answer(self, request: Request) -> Reply:
        if request.path.endswith("/oauth2/v2.0/token"):
            return self._sign_in(request)
        if request.path.startswith(f"/{ACCOUNT}"):
            return self._blobs(request)
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        identity, scope = self._tokens.get(token, ("", ""))
        if request.path.startswith("/keys/"):
            if "vault.azure.net" not in scope:
                challenge = 'Bearer authorization="https://login.windows.net/x", resource="https://vault.azure.net"'
                return json_reply({"error": {"code": "Unauthorized"}}, 401, WWW_Authenticate=challenge)
            return self.vault.answer(request, self.permissions[identity])
        if "management.azure.com" not in scope:
            return json_reply({"error": {"code": "AuthenticationFailed"}}, 401)
        if "arm" not in self.permissions[identity]:
            return json_reply({"error": {"code": "AuthorizationFailed"}}, 403)
        return self._resource(request)

    def _sign_in(self, request: Request) -> Reply:
        form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
        if request.path.split("/")[1] != TENANT:
            return json_reply({"error": "invalid_request", "error_description": "AADSTS90002: no such tenant"}, 400)
        if self._secrets.get(form["client_id"]) != form["client_secret"]:
            return json_reply({"error": "invalid_client", "error_description": "AADSTS7000215"}, 401)
        token = _token(form["scope"].removesuffix("/.default"))
        self._tokens[token] = form["client_id"], form["scope"]
        return json_reply({"access_token": token, "expires_in": 3599, "token_type": "Bearer"})

    def _blobs(self, request: Request) -> Reply:
        """Check permissions, which azurite does not, and forward the request."""
        token = (request.headers.get("Authorization") or "").removeprefix("Bearer ")
        identity, _ = self._tokens.get(token, ("", ""))
        is_refused = request.method in self.refused_methods and "restype" not in request.query
        if is_refused or (identity and "blobs" not in self.permissions[identity]):
            return Reply(b"", 403, {"x-ms-error-code": "AuthorizationPermissionMismatch"})
        reply = self.versions.answer(request)
        is_container = request.query.get("restype") == "container" and "comp" not in request.query
        if not is_container or reply.status != 200:
            return reply
        return reply._replace(headers={**reply.headers, **self.blob_headers})

    def _resource(self, request: Request) -> Reply:
        group = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}"
        account = f"{group}/providers/Microsoft.Storage/storageAccounts/{ACCOUNT}"
        known = {
            account: {"name": ACCOUNT, "location": "germanywestcentral", "properties": self.account},
            f"{account}/blobServices/default": {"name": "default", "properties": self.blob_service},
            f"{account}/blobServices/default/containers/records/providers/Microsoft.Authorization/permissions": {
                "value": [self.roles]
            },
        }
        if request.path not in known:
            return json_reply({"error": {"code": "ResourceNotFound"}}, 404)
        return json_reply(known[request.path])


def _token(audience: str) -> str:
    """Return an unsigned token: azurite checks its audience, issuer and times, but no signature."""
    now = int(time.time())
    claims = {
        "aud": audience,
        "iss": f"https://sts.windows.net/{TENANT}/",
        "nbf": now - 60,
        "iat": now,
        "exp": now + 3600,
    }
    parts = [{"typ": "JWT", "alg": "none"}, {**claims, "jti": secrets.token_hex(8)}]
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + ".eA"


@contextmanager
def azure_cloud(context: ssl.SSLContext, blobs: Azurite | None = None) -> Iterator[AzureCloud]:
    """Run the emulator. It has storage if `blobs` is given, an azurite with a certificate."""
    cloud = AzureCloud(blobs)
    with web_server(cloud.answer, context) as server:
        cloud.front, cloud.url = server, server.url
        cloud.vault.url = server.url
        yield cloud
