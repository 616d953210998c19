"""Blobs in a container of Azure Blob Storage."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field

from config.clouds import name_patterns
from config.clouds.name_patterns import endpoint_problems, name_problems
from connectors.kinds import named_items
from connectors.kinds.azure_blob.container import Container
from connectors.kinds.base import Batch, Cursor, Source
from connectors.kinds.object_storage import ObjectConfig


class Config(ObjectConfig):
    account: Annotated[str, Field(min_length=3, max_length=24)]
    """Enter the name of the storage account."""
    container: Annotated[str, Field(min_length=3, max_length=63)]
    """Enter the name of the container."""


class AzureBlob:
    name: ClassVar = "azure_blob"
    Config: ClassVar = Config
    secret: ClassVar = "a key of the account, or a shared access signature (SAS) that may read and list"  # noqa: S105

    def check(self, config: Any) -> list[str]:
        return [
            *name_problems("account", config.account, name_patterns.AZURE_ACCOUNT),
            *name_problems("container", config.container, name_patterns.AZURE_CONTAINER),
            *endpoint_problems(config.endpoint, may_have_path=True),
        ]

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from named_items.read(source, cursor, Container(source))


KIND = AzureBlob()
