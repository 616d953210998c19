"""A PostgreSQL that speaks TLS, for connectors to read."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psycopg

from tests.support.certificates import Authority
from tests.throwaway import FAST, postgresql


class Database(NamedTuple):
    url: str

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    @property
    def password(self) -> str:
        return urlsplit(self.url).password or ""

    def run(self, *statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[arg-type]

    def config(self, query: str, column: str, id: str = "id", **other: Any) -> dict[str, Any]:
        named = {"host": "localhost", "port": self.port, "database": "postgres", "user": "drs", "query": query}
        lag = {"lag": other.pop("lag")} if "lag" in other else {}
        return {**named, "cursor": {"column": column, "id": id, **lag}, **other}


@contextmanager
def tls_database(authority: Authority, *names: str) -> Iterator[Database]:
    with tempfile.TemporaryDirectory(prefix="drs-tls-") as directory:
        os.chmod(directory, 0o755)
        certificate, key = (shutil.copy(file, directory) for file in authority.issue(*names))
        if os.geteuid() == 0:  # as root, PostgreSQL runs as the user of its package
            shutil.chown(key, "postgres")
            shutil.chown(certificate, "postgres")
        settings = {**FAST, "ssl": "on", "ssl_cert_file": str(certificate), "ssl_key_file": str(key)}
        with postgresql(settings) as url:
            yield Database(f"{url}postgres")
