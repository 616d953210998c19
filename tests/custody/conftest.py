import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from custody.keys import keyring

DEFAULT = "default"


def at_once(count: int, call: Callable[[int], Any]) -> list[Any]:
    """What `call(0)` … `call(count - 1)` return, started together, each in a thread with a connection of its own."""
    barrier = threading.Barrier(count)

    def one(number: int) -> Any:
        barrier.wait()
        try:
            return call(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


@pytest.fixture
def shared_database(transactional_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database that threads and processes share as in production. Yields its DATABASE_URL.

    On PostgreSQL it is the test database. On SQLite that one lives in memory, with locks unlike those of a file,
    so the test gets a copy of it in a file.
    """
    described = connections[DEFAULT].settings_dict
    if connections[DEFAULT].vendor == "postgresql":
        yield "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(described)
        return
    in_memory, name = connections[DEFAULT], described["NAME"]
    path = tmp_path_factory.mktemp("database") / "db.sqlite3"
    with sqlite3.connect(path) as copy:
        in_memory.connection.backup(copy)
    copy.close()
    described["NAME"] = str(path)
    connections[DEFAULT] = connections.create_connection(DEFAULT)
    try:
        yield f"sqlite:///{path}"
    finally:
        connections[DEFAULT].close()
        described["NAME"] = name
        connections[DEFAULT] = in_memory


@pytest.fixture
def key_directory(settings: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A DATA_DIR of this test's own, with no keys yet. Yields where its keys will lie."""
    settings.DATA_DIR = tmp_path_factory.mktemp("data")
    keyring.cache_clear()
    yield settings.DATA_DIR / "keys"
    keyring.cache_clear()
