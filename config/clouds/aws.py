"""Amazon Web Services, and S3-compatible services."""

import os
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any, ClassVar, NamedTuple
from urllib.parse import urlsplit

import boto3
import botocore.session
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import ClientError

from config.errors import DomainError
from config.vetted_http import Connections

_CONFIG: dict[str, Any] = {
    "retries": {"total_max_attempts": 1},
    "connect_timeout": 5,
    "read_timeout": 20,
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
    "ignore_configured_endpoint_urls": True,
}
Guard = Callable[..., None]
"""Receives every call before it is sent, as `model` and `params` of botocore's `before-call` event. Raises to forbid
the call."""

_UNSET = (None, None, None, None)
_lock = Lock()


class Credentials(NamedTuple):
    access_key_id: str
    secret_access_key: str
    session_token: str | None = None


class RoleIsOpen(DomainError):
    """The role can be assumed without the external id, so any organization here could use it."""

    code: ClassVar = "role_is_open"
    status: ClassVar = 422
    sentence = "The role can be assumed without its external id."


def s3(
    connections: Connections, credentials: Credentials, *, region: str, endpoint: str = "", guard: Guard | None = None
) -> Any:
    """Return a client of S3.

    Args:
        endpoint: address of an S3-compatible service, or empty for Amazon's.
    """
    style = {"addressing_style": "path"} if endpoint else {}
    return client("s3", connections, credentials, region=region, endpoint=endpoint, guard=guard, s3=style)


def assume_role(
    connections: Connections,
    role_arn: str,
    *,
    external_id: str,
    region: str,
    credentials: Credentials | None,
    endpoint: str = "",
    guard: Guard | None = None,
) -> Credentials:
    """Return credentials of a role, valid for an hour.

    Args:
        credentials: identity that assumes the role. None is this service's own, which all organizations share. The role
            must then require the external id, or one organization could use another's role.
        endpoint: address of an STS-compatible service for these credentials, or empty for Amazon's.

    Raises:
        RoleIsOpen
        botocore.exceptions.ClientError, botocore.exceptions.BotoCoreError
    """
    if credentials is None:
        sts = boto3.session.Session().client(
            "sts", region_name=region, config=Config(**{**_CONFIG, "ignore_configured_endpoint_urls": False})
        )
        _require_external_id(sts, role_arn)
    else:
        sts = client("sts", connections, credentials, region=region, endpoint=endpoint, guard=guard)
    issued = sts.assume_role(
        RoleArn=role_arn, RoleSessionName="decision-record-service", ExternalId=external_id, DurationSeconds=3600
    )["Credentials"]
    return Credentials(issued["AccessKeyId"], issued["SecretAccessKey"], issued["SessionToken"])


def _require_external_id(sts: Any, role_arn: str) -> None:
    try:
        sts.assume_role(RoleArn=role_arn, RoleSessionName="decision-record-service", DurationSeconds=900)
    except ClientError as error:
        if error.response["Error"]["Code"] == "AccessDenied":
            return
        raise
    raise RoleIsOpen


def client(
    service: str,
    connections: Connections,
    credentials: Credentials,
    *,
    region: str,
    endpoint: str = "",
    guard: Guard | None = None,
    **config: Any,
) -> Any:
    """Return a client of any service. Several threads may use it."""
    with _lock:  # botocore clients are thread-safe, creating them is not
        made = _session().create_client(
            service,
            region_name=region,
            endpoint_url=endpoint or None,
            aws_access_key_id=credentials.access_key_id,
            aws_secret_access_key=credentials.secret_access_key,
            aws_session_token=credentials.session_token,
            config=Config(**_CONFIG, **config),
        )
    made.meta.events.register(f"before-send.{service}", _Sender(connections).send)
    made.meta.events.register(f"before-call.{service}", _forbid_redirects)
    if guard:
        made.meta.events.register(f"before-call.{service}", guard)
    return made


def _forbid_redirects(context: dict[str, Any], **_: Any) -> None:
    """Tell botocore that it has followed a redirect already.

    Otherwise it asks a redirecting bucket for its region, and again if that request is redirected, without end.
    """
    context["s3_redirect"] = {**context.get("s3_redirect", {}), "redirected": True}


@cache
def _session() -> botocore.session.Session:
    """Return a session that ignores the files and variables with this process's identity."""
    nothing = (None, None, os.devnull, None)
    return botocore.session.Session(
        session_vars={"profile": _UNSET, "config_file": nothing, "credentials_file": nothing, "ca_bundle": _UNSET}
    )


class _Sender:
    """Sends botocore's prepared requests over vetted connections."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        url = urlsplit(request.url)
        answer = self._connections.pools.connection_from_url(request.url).urlopen(
            request.method,
            url.path + (f"?{url.query}" if url.query else ""),
            body=request.body,
            headers=request.headers,
            retries=False,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        response = AWSResponse(request.url, answer.status, answer.headers, answer)
        if not request.stream_output:
            _ = response.content  # read now, while the request's limits apply
        return response
