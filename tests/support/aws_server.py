"""An AWS emulator (ministack) that checks signatures and permissions: S3, KMS, STS and IAM.

The emulator runs in a separate process that ends with this one. A proxy in this process adds the features that the
emulator lacks (DryRun, the expected owner of a bucket), and can be made to fail.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.forwarding import forward, hang_up
from tests.support.web_server import Reply, Request, WebServer, json_reply, web_server
from tests.throwaway import free_port, wait_for_port

_PROGRAM = Path(__file__).parent.parent.parent / ".cache/ministack/bin/ministack"
ACCOUNT = "000000000000"
REGION = "us-east-1"
ROOT = "test:test"


class AwsServer(NamedTuple):
    front: WebServer
    port: int
    """The emulator's port, for requests that have to be fast."""

    @property
    def url(self) -> str:
        return self.front.url

    def client(self, service: str, secret: str = ROOT, region: str = REGION) -> Any:
        """Return a client of boto3 for a secret as `secret_ref` names it, by default root's."""
        return _client(self.url, service, secret, region)

    def person(self, name: str, *statements: tuple[str | list[str], str]) -> str:
        """Create a user with these permissions, as pairs of actions and resource. Return the user's secret."""
        iam = self.client("iam")
        iam.create_user(UserName=name)
        if statements:
            self.allow(name, *statements)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return f"{key['AccessKeyId']}:{key['SecretAccessKey']}"

    def allow(self, name: str, *statements: tuple[str | list[str], str]) -> None:
        allowed = [{"Effect": "Allow", "Action": action, "Resource": resource} for action, resource in statements]
        document = json.dumps({"Version": "2012-10-17", "Statement": allowed})
        self.client("iam").put_user_policy(UserName=name, PolicyName="policy", PolicyDocument=document)

    def key(self, spec: str = "SYMMETRIC_DEFAULT") -> str:
        """Create a KMS key, and return its ARN."""
        usage = "ENCRYPT_DECRYPT" if spec == "SYMMETRIC_DEFAULT" else "SIGN_VERIFY"
        key = self.client("kms").create_key(KeySpec=spec, KeyUsage=usage)
        return str(key["KeyMetadata"]["Arn"])

    def reset(self) -> None:
        """Remove all resources, users and faults."""
        self.front.forget()
        forward(Request("POST", "/_ministack/reset", {}, {"Host": "localhost"}, b"", "/_ministack/reset"), self.port)


@cache
def _client(url: str, service: str, secret: str, region: str) -> Any:
    """Return a cached client: creating one takes longer than most requests."""
    import boto3
    from botocore.config import Config

    access, key = secret.split(":")
    return boto3.client(
        service,
        endpoint_url=url,
        region_name=region,
        aws_access_key_id=access,
        aws_secret_access_key=key,
        config=Config(s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
    )


@contextmanager
def aws_server() -> Iterator[AwsServer]:
    if not _PROGRAM.exists():
        raise SystemExit("ministack is missing: run `make services`.")
    port = free_port()
    where = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0"}  # mTLS binds 0.0.0.0
    environment = {**os.environ, **where, "AUTH": "true"}
    # The shell ends the emulator when its standard input closes, so it ends with this process.
    server = subprocess.Popen(
        ["sh", "-c", f'"{_PROGRAM}" & cat; kill $!; wait'],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        wait_for_port(port)
        with web_server(lambda request: _answer(request, port)) as front:
            yield AwsServer(front, port)
    finally:
        hang_up(port)
        server.stdin.close()  # type: ignore[union-attr]
        server.wait()


def _answer(request: Request, port: int) -> Reply:
    owner = request.headers.get("x-amz-expected-bucket-owner")
    if owner not in (None, ACCOUNT):
        return Reply(b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>", 403)
    reply = forward(request, port)
    if _is_dry(request) and (reply.status == 200 or b"InvalidCiphertextException" in reply.body):
        return json_reply({"__type": "DryRunOperationException", "message": "The DryRun parameter was specified."}, 412)
    return reply


def _is_dry(request: Request) -> bool:
    is_of_kms = (request.headers.get("X-Amz-Target") or "").startswith("TrentService.")
    return is_of_kms and bool(json.loads(request.body).get("DryRun"))
