"""Rows that a query selects from a PostgreSQL database."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from connectors.kinds.base import Batch, Cursor, KindConfig, Source
from connectors.kinds.postgres.keyset_rows import read

_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._:-]{0,252}[A-Za-z0-9.])?", re.ASCII)
_SELECT = re.compile(r"\s*(select|with)\b", re.IGNORECASE)

Text = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[^\x00]+$")]


class Position(BaseModel):
    """Two columns of the query that order and identify its rows."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    column: Text
    """A time or a whole number that grows: when the row was written, or last changed."""
    id: Text
    """A column whose value is unique to each row."""
    lag: Annotated[int | None, Field(ge=0, le=30 * 86400)] = None
    """How far before the newest row to read again, because rows may become visible out of order: seconds for a time
    (300 by default), or the same difference for numeric values (1000 by default)."""


class Config(KindConfig, use_attribute_docstrings=True):
    host: Annotated[str, Field(min_length=1, max_length=255)]
    """Enter the name or address of the host."""
    port: Annotated[int, Field(ge=1, le=65535)] = 5432
    """Enter the port of the host."""
    database: Text
    """Enter the name of the database."""
    user: Text
    """Enter the user to sign in as."""
    query: Annotated[str, Field(min_length=1, max_length=20_000, pattern=r"^[^\x00]+$")]
    """Enter one SELECT, without a semicolon at the end."""
    cursor: Position
    """Name two columns of the query that order its rows, such as {"column": "decided_at", "id": "id"}."""
    tls: Literal["verify", "off"] = "verify"
    """Use off only for a host in ALLOWED_PRIVATE_HOSTS that does not support TLS."""


class Postgres:
    name: ClassVar = "postgres"
    Config: ClassVar = Config
    secret: ClassVar = "the password of `user`"  # noqa: S105

    def check(self, config: Any) -> list[str]:
        problems = []
        if not _HOST.fullmatch(config.host):
            problems.append("host: Write one name or address, without port and path.")
        if not _SELECT.match(config.query):
            problems.append("query: Write one SELECT, which may begin with WITH.")
        if config.query.rstrip().endswith(";"):
            problems.append("query: Leave out the semicolon at the end.")
        return problems

    def read(self, source: Source[Any], cursor: Cursor) -> Iterator[Batch]:
        yield from read(source, cursor)


KIND = Postgres()
