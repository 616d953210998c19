"""Amazon Web Services, and what speaks like its S3."""

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
"""Sees every call before it is sent, as botocore's `before-call` event: `model` and `params` say what it is. It raises
to forbid it."""

_UNSET = (None, None, None, None)
_lock = Lock()


class Credentials(NamedTuple):
    access_key_id: str
    secret_access_key: str
    session_token: str | None = None


class RoleIsOpen(DomainError):
    """The role can be assumed without the external id, so anybody here could name it as theirs."""

    code: ClassVar = "role_is_open"
    status: ClassVar = 422
    sentence = "The role can be assumed without its external id."


def s3(
    connections: Connections, credentials: Credentials, *, region: str, endpoint: str = "", guard: Guard | None = None
) -> Any:
    """A client of S3.

    Args:
        endpoint: of what speaks like S3, if it is not Amazon's.
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
    """Credentials of a role, for an hour.

    Args:
        endpoint: where given credentials are handed out, if it is not Amazon's.
        credentials: whose they are that assume the role. None is this service's own identity, which is good for nothing
            else: then the role must insist on the external id, or one organization could name the role of another.

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
    found = sts.assume_role(
        RoleArn=role_arn, RoleSessionName="decision-record-service", ExternalId=external_id, DurationSeconds=3600
    )["Credentials"]
    return Credentials(found["AccessKeyId"], found["SecretAccessKey"], found["SessionToken"])


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
    """A client of any service. It is kept with its connections; several threads may use it."""
    with _lock:  # clients can be used by several threads, but not made by them
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
    """botocore asks a bucket for its region when it is redirected, and asks again when that is redirected, without end.
    What it takes for done it does not do."""
    context["s3_redirect"] = {**context.get("s3_redirect", {}), "redirected": True}


@cache
def _session() -> botocore.session.Session:
    """Without the files and variables that say who this process is."""
    nothing = (None, None, os.devnull, None)
    return botocore.session.Session(
        session_vars={"profile": _UNSET, "config_file": nothing, "credentials_file": nothing, "ca_bundle": _UNSET}
    )


class _Sender:
    """Sends what botocore has prepared over vetted connections, in place of its own."""

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
            _ = response.content  # read now, within the bounds of the request
        return response
