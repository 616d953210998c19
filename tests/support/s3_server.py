"""An S3 that checks signatures and permissions (moto), in a process of its own that ends with this one.

python -m tests.support.s3_server PORT     runs until its standard input ends
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.throwaway import free_port, wait_for_port

_UNCHECKED = 8
"""Actions at the beginning that anybody may do, so that there is somebody who may do something."""


class S3Server(NamedTuple):
    port: int
    client: Any
    """Of one who may do everything."""
    root: str
    """What this one signs in with."""
    secret: str
    """Of one who may read the bucket `decisions`."""
    powerless: str
    """Of one who may do nothing."""


@contextmanager
def s3_server() -> Iterator[S3Server]:
    port = free_port()
    environment = {**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": str(_UNCHECKED)}
    command = [sys.executable, "-W", "ignore", "-m", "tests.support.s3_server", str(port)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    try:
        wait_for_port(port)
        yield _with_people(port)
    finally:
        server.terminate()
        server.wait()
        server.stdin.close()  # type: ignore[union-attr]


def _with_people(port: int) -> S3Server:
    import boto3

    def client(service: str, key: tuple[str, str]) -> Any:
        return boto3.client(
            service,
            endpoint_url=f"http://127.0.0.1:{port}",
            region_name="us-east-1",
            aws_access_key_id=key[0],
            aws_secret_access_key=key[1],
        )

    iam = client("iam", ("AKIAFIRST", "first"))

    def person(name: str, *statements: tuple[str, str]) -> tuple[str, str]:
        iam.create_user(UserName=name)
        if statements:
            allowed = ",".join(
                f'{{"Effect":"Allow","Action":"{action}","Resource":"{resource}"}}' for action, resource in statements
            )
            document = f'{{"Version":"2012-10-17","Statement":[{allowed}]}}'
            iam.put_user_policy(UserName=name, PolicyName="policy", PolicyDocument=document)
        key = iam.create_access_key(UserName=name)["AccessKey"]
        return key["AccessKeyId"], key["SecretAccessKey"]

    root = person("root", ("*", "*"))
    reader = person("reader", ("s3:ListBucket", "arn:aws:s3:::decisions"), ("s3:GetObject", "arn:aws:s3:::decisions/*"))
    powerless = person("powerless")
    s3 = client("s3", root)
    s3.create_bucket(Bucket="decisions")
    return S3Server(port, s3, ":".join(root), ":".join(reader), ":".join(powerless))


def _run(port: int) -> None:
    from moto.server import main

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=end_with_parent, daemon=True).start()
    main(["-H", "127.0.0.1", "-p", str(port)])


if __name__ == "__main__":
    _run(int(sys.argv[1]))
