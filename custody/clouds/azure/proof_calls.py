"""Calls that Azure always refuses, whose refusal shows whether they would be allowed."""

import base64
from collections.abc import Callable
from typing import Any

import requests
from azure.core.exceptions import HttpResponseError
from azure.storage.blob import BlobClient

from config.clouds.azure import error_code
from custody.clouds.azure import configuration as azure
from custody.clouds.proof import Finding, failed, passed, skipped

_NO_VERSION = "2001-01-01T00:00:00.0000000Z"
_IMPOSSIBLE = {"wrapkey": bytes(600), "unwrapkey": bytes(256), "sign": bytes(1)}
"""Values that no key accepts: too long to wrap, not wrapped by the key, and too short for a digest."""


class Refused(Exception):
    """Azure answers a JSON request with an error."""

    def __init__(self, answer: requests.Response) -> None:
        super().__init__(f"HTTP {answer.status_code}")
        self.status = answer.status_code


def _blob(cloud: Any, ask: Callable[[BlobClient], object], done: str, *, writes: bool = False) -> Finding:
    """Send a call that fails because there is no such blob. A refusal for another reason is raised."""
    container = azure.container(
        cloud.configuration, cloud.connections, cloud.application, organization_id=cloud.organization_id
    )
    try:
        blob = container.get_blob_client(cloud.absent)
        ask(blob)
    except HttpResponseError as error:
        if error_code(error) in ("BlobNotFound", "InvalidQueryParameterValue", "InvalidVersion"):
            return passed(f"A blob could be {done}. There is none of the name that was asked for.")
        raise
    if writes:
        undone: Finding = cloud.undo(cloud.absent, blob.delete_blob)
        return undone
    return failed("The answer is not what was asked for.", "Check the endpoint: this is not Azure's.")


def list_blobs(cloud: Any) -> Finding:
    """List versions of a blob that does not exist, as each disposal does."""
    container = azure.container(
        cloud.configuration, cloud.connections, cloud.application, organization_id=cloud.organization_id
    )
    list(container.list_blobs(name_starts_with=cloud.absent, include=["versions"]))
    return passed("Blobs and their versions can be listed.")


def read(cloud: Any) -> Finding:
    return _blob(cloud, lambda blob: blob.download_blob(), "read")


def write(cloud: Any) -> Finding:
    return _blob(cloud, lambda blob: blob.set_blob_metadata({}), "written", writes=True)


def delete(cloud: Any) -> Finding:
    return _blob(cloud, lambda blob: blob.delete_blob(), "deleted")


def delete_version(cloud: Any) -> Finding:
    return _blob(cloud, lambda blob: blob.delete_blob(version_id=_NO_VERSION), "deleted, one version alone")


def _operation(cloud: Any, key: str, verb: str, algorithm: str) -> Finding:
    """Ask a key for an impossible operation. It refuses the value, or the caller."""
    if not key:
        return skipped("No key for this is named.")
    value = base64.urlsafe_b64encode(_IMPOSSIBLE[verb]).rstrip(b"=").decode()
    session = azure.key_session(cloud.connections, cloud.application, key)
    answer = session.post(azure.key_url(key, verb), json={"alg": algorithm, "value": value})
    if answer.status_code == 400:
        return passed("The key would do it. It was asked for something that no key can do.")
    if answer.status_code == 200:
        return failed("The answer is not what was asked for.", "Check the key: this is not Azure's Key Vault.")
    raise Refused(answer)


def wrap(cloud: Any) -> Finding:
    return _operation(cloud, cloud.configuration.kms_key, "wrapkey", "RSA-OAEP-256")


def unwrap(cloud: Any) -> Finding:
    return _operation(cloud, cloud.configuration.kms_key, "unwrapkey", "RSA-OAEP-256")


def sign(cloud: Any) -> Finding:
    return _operation(cloud, cloud.configuration.signing_key, "sign", "ES256")
