"""An S3 emulator with a bucket `decisions`, and users with different permissions."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from tests.support.aws_server import REGION, ROOT, aws_server


class S3Server(NamedTuple):
    port: int
    client: Any
    """A client with all permissions."""
    root: str
    """The secret of this client."""
    secret: str
    """The secret of a user who may read the bucket `decisions`."""
    powerless: str
    """The secret of a user without permissions."""


@contextmanager
def s3_server(region: str = REGION) -> Iterator[S3Server]:
    with aws_server() as aws:
        reader = aws.person(
            "reader", ("s3:ListBucket", "arn:aws:s3:::decisions"), ("s3:GetObject", "arn:aws:s3:::decisions/*")
        )
        powerless = aws.person("powerless")
        s3 = aws.client("s3", region=region)
        where = {} if region == REGION else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        s3.create_bucket(Bucket="decisions", **where)
        yield S3Server(aws.front.port, s3, ROOT, reader, powerless)
