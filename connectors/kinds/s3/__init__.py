"""Objects in a bucket of Amazon S3 or a compatible service."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field

from config.clouds import name_patterns
from config.clouds.name_patterns import endpoint_problems, name_problems
from connectors.kinds import named_items
from connectors.kinds.base import Batch, Cursor, Source
from connectors.kinds.object_storage import ObjectConfig
from connectors.kinds.s3.bucket import Bucket


class Config(ObjectConfig):
    bucket: Annotated[str, Field(min_length=3, max_length=63)]
    """Enter the name of the bucket."""
    region: Annotated[str, Field(max_length=32)] = ""
    """Enter the region of the bucket. You may leave it blank with an endpoint."""
    role_arn: Annotated[str, Field(max_length=256)] = ""
    """Enter a role to assume. Its external ID must be this organization's ID."""


class S3:
    name: ClassVar = "s3"
    Config: ClassVar = Config
    secret: ClassVar = "`ACCESS_KEY_ID:SECRET_ACCESS_KEY`, or nothing if the service itself is to assume `role_arn`"  # noqa: S105

    def check(self, config: Any) -> list[str]:
        problems = [
            *name_problems("bucket", config.bucket, name_patterns.AWS_BUCKET),
            *endpoint_problems(config.endpoint),
        ]
        if config.region or not config.endpoint:
            problems += name_problems("region", config.region, name_patterns.AWS_REGION)
        if config.role_arn:
            problems += name_problems("role_arn", config.role_arn, name_patterns.AWS_ROLE)
        if config.role_arn and config.endpoint:
            problems.append("role_arn: Roles are Amazon's. Leave out the endpoint.")
        return problems

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from named_items.read(source, cursor, Bucket(source))


KIND = S3()
