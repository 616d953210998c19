"""Objects in a bucket of Google Cloud Storage."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field

from config.clouds import name_patterns
from config.clouds.name_patterns import endpoint_problems, name_problems
from connectors.kinds import named_items
from connectors.kinds.base import Batch, Cursor, Source
from connectors.kinds.gcs.bucket import Bucket
from connectors.kinds.object_storage import ObjectConfig


class Config(ObjectConfig):
    bucket: Annotated[str, Field(min_length=3, max_length=222)]
    """Enter the name of the bucket."""


class Gcs:
    name: ClassVar = "gcs"
    Config: ClassVar = Config
    secret: ClassVar = "the JSON key of a service account"  # noqa: S105

    def check(self, config: Any) -> list[str]:
        return [
            *name_problems("bucket", config.bucket, name_patterns.GCP_BUCKET),
            *endpoint_problems(config.endpoint),
        ]

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from named_items.read(source, cursor, Bucket(source))


KIND = Gcs()
