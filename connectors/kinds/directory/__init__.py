"""Files in a folder of this machine that its operator has opened to connectors."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from pydantic import Field

from connectors.kinds import named_items
from connectors.kinds.base import Batch, Cursor, KindConfig, Source
from connectors.kinds.directory.files import Files, allowed_folder


class Config(KindConfig, use_attribute_docstrings=True):
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """Enter the absolute path of the folder."""
    pattern: Annotated[str, Field(min_length=1, max_length=512)] = "*"
    """Enter a pattern for the names of files to read, such as *.ndjson. Add a slash for folders below: */*.ndjson."""


class Directory:
    name: ClassVar = "directory"
    Config: ClassVar = Config
    secret: ClassVar = ""

    def check(self, config: Any) -> list[str]:
        problems = []
        if allowed_folder(config.path) is None:
            problems.append(
                "path: Connectors may not read there. "
                "Name a folder below one of CONNECTOR_DIRECTORIES, which the operator of this service sets."
            )
        if any(part in ("", ".", "..", "**") for part in config.pattern.split("/")):
            problems.append(
                "pattern: Write names with * and ?, and one slash for each folder below, such as */*.ndjson."
            )
        return problems

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from named_items.read(source, cursor, Files(source))


KIND = Directory()
