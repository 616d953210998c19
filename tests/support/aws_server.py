"""An AWS that checks signatures and permissions (ministack): S3, KMS, STS and IAM.

It runs in a process of its own that ends with this one. A server of this process stands before it, which does what the
emulator leaves out (DryRun, the expected owner of a bucket) and can be told to fail.
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
    """Of the emulator itself, for what is to be fast."""

    @property
    def url(self) -> str:
        return self.front.url

    def client(self, service: str, secret: str = ROOT, region: str = REGION) -> Any:
        """A client of boto3, with what `secret_ref` would hold; root's if nothing is said."""
        return _client(self.url, service, secret, region)

    def person(self, name: str, *statements: tuple[str | list[str], str]) -> str:
        """Somebody who may do these actions with these resources, and their secret."""
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
        """The ARN of a new KMS key."""
        usage = "ENCRYPT_DECRYPT" if spec == "SYMMETRIC_DEFAULT" else "SIGN_VERIFY"
        made = self.client("kms").create_key(KeySpec=spec, KeyUsage=usage)
        return str(made["KeyMetadata"]["Arn"])

    def reset(self) -> None:
        """Nothing and nobody is there any more, and nothing fails."""
        self.front.forget()
        forward(Request("POST", "/_ministack/reset", {}, {"Host": "localhost"}, b"", "/_ministack/reset"), self.port)


@cache
def _client(url: str, service: str, secret: str, region: str) -> Any:
    """One takes longer to make than most of what is then asked of it."""
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
    where = {"GATEWAY_PORT": str(port), "BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0"}  # which would bind 0.0.0.0
    environment = {**os.environ, **where, "AUTH": "true"}
    # It ends when its standard input does, that is with this process.
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
