"""Databases of tests. Migrating is slower than most tests, so it is done once in a run, and the result is copied."""

import atexit
import fcntl
import json
import os
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from django.db import connection

from tests.throwaway import postgresql_program

CHECKOUT = Path(__file__).resolve().parent.parent
_SHARED = "TESTS_SHARED_DIRECTORY"
_START = """
import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
django.setup()
"""
_MIGRATE = 'call_command("migrate", verbosity=0)'
_ORGANIZE = """
if settings.CUSTODY_VAULT != "database":
    call_command("custody_create_vault", verbosity=0)
call_command("create_organization", "Live Bank", owner="owner@live.example", slug="live-bank")
call_command("create_api_key", organization="live-bank", name="test", role="owner")
"""


class Prepared(NamedTuple):
    """A prepared installation: its database URL, its DATA_DIR with the master key, and its owner's API key."""

    url: str
    data: str
    key: str


def share() -> Callable[[], None]:
    """Let the child processes share databases. Return the function that removes them at the end."""
    if _SHARED in os.environ:
        return lambda: None
    directory = os.environ[_SHARED] = tempfile.mkdtemp(prefix="drs-templates-")

    def clear() -> None:
        for file in Path(directory).glob("*.url"):
            _drop(file.read_text())
        shutil.rmtree(directory)
        del os.environ[_SHARED]

    return clear


def _shared() -> Path:
    if _SHARED not in os.environ:
        atexit.register(share())
    return Path(os.environ[_SHARED])


def _once(name: str, make: Callable[[], Any]) -> Any:
    """Return the result of `make`, which must be JSON. Only the first process of a run calls `make`."""
    answer = _shared() / f"{name}.json"
    with answer.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            answer.write_text(json.dumps(make()))
        return json.loads(answer.read_text())


def suite_url() -> str:
    """Return the DATABASE_URL of the suite."""
    return os.environ.get("DATABASE_URL", "sqlite:///")


def migrated(suite: str) -> str:
    """Return the URL of a migrated, empty database, of the same kind as the database of the URL `suite`."""

    def make() -> str:
        url = _template("migrated", suite)
        _run(_MIGRATE, {**os.environ, **_settings(url, _shared() / "data", "database")})
        return url

    return str(_once(f"migrated-{_kind(suite)}", make))


def prepared(suite: str, vault: str) -> Prepared:
    """Return an installation on a copy of `migrated`, with one organization."""
    name = f"{_kind(suite)}-{vault}"

    def make() -> Prepared:
        url, data = _template(f"prepared_{vault}", suite, migrated(suite)), _shared() / f"data-{name}"
        printed = _run(_ORGANIZE, {**os.environ, **_settings(url, data, vault)})
        return Prepared(url, str(data), printed.split()[-1])

    return Prepared(*_once(f"prepared-{name}", make))


@contextmanager
def installation(url: str | None, data: Path, vault: str) -> Iterator[tuple[str, str]]:
    """Yield the database URL and the owner's API key of a new installation with one organization.

    Args:
        url: an empty database; by default a new database of the suite's kind.
        data: the DATA_DIR of the installation.
    """
    template = prepared(url if url and _kind(url) != _kind(suite_url()) else suite_url(), vault)
    shutil.copytree(template.data, data, dirs_exist_ok=True)
    if url:
        _fill(url, template.url)
        yield url, template.key
        return
    with new_database(template.url) as new:
        yield new, template.key


def _settings(url: str, data: Path, vault: str) -> dict[str, str]:
    return {"DATABASE_URL": url, "DATA_DIR": str(data), "CUSTODY_VAULT": vault}


def _run(program: str, environment: Mapping[str, str]) -> str:
    """Run commands of manage.py in one process, and return their output."""
    from tests.support import forks

    # Closing the connection merges SQLite's journal into its file.
    done = forks.run(f"{_START}{program}\nconnection.close()", environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def new_database(template: str = "") -> Iterator[str]:
    """Yield the URL of a new database of the suite's kind.

    Args:
        template: the URL of a database to copy, which must have no connections; "" for an empty database.
    """
    with tempfile.TemporaryDirectory(prefix="drs-database-") as directory:
        url = _url(f"live_{secrets.token_hex(6)}", suite_url(), directory)
        _copy(template, url)
        try:
            yield url
        finally:
            _drop(url)


@contextmanager
def database_of_tests() -> Iterator[None]:
    """Connect Django to a copy of the migrated database: in memory, or on the server of DATABASE_URL."""
    template, name = migrated(suite_url()), connection.settings_dict["NAME"]
    connection.close()
    if connection.vendor == "sqlite":
        connection.settings_dict["NAME"] = "file:memorydb_default?mode=memory&cache=shared"
        connection.ensure_connection()
        with closing(sqlite3.connect(template.removeprefix("sqlite:///"))) as source:
            source.backup(connection.connection)
        yield
        return
    url = f"{suite_url()}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    _drop(url)  # a killed run may have left it
    _copy(template, url)
    connection.settings_dict["NAME"] = url.rpartition("/")[2]
    yield
    connection.close()
    connection.settings_dict["NAME"] = name
    _drop(url)


def _kind(url: str) -> str:
    return url.partition(":")[0]


def _url(name: str, suite: str, directory: str | Path) -> str:
    if _kind(suite) == "sqlite":
        return f"sqlite:///{directory}/{name}.sqlite3"
    return f"{suite.rpartition('/')[0]}/{name}"


def _template(name: str, suite: str, template: str = "") -> str:
    """Create a database that lasts until the end of the run, and return its URL."""
    url = _url(f"{name}_{secrets.token_hex(6)}", suite, _shared())
    _copy(template, url)
    (_shared() / f"{name}-{_kind(suite)}.url").write_text(url)
    return url


def _copy(template: str, url: str) -> None:
    if _kind(url) != "sqlite":
        _administer(url, f"CREATE DATABASE {{}} TEMPLATE {template.rpartition('/')[2] or 'template1'}")
    elif template:
        shutil.copyfile(template.removeprefix("sqlite:///"), url.removeprefix("sqlite:///"))


def _fill(url: str, template: str) -> None:
    """Copy `template` into an empty database of any server."""
    if _kind(url) == "sqlite":
        return _copy(template, url)
    dump = subprocess.Popen([postgresql_program("pg_dump"), "--format=custom", template], stdout=subprocess.PIPE)
    with dump:
        subprocess.run([postgresql_program("pg_restore"), f"--dbname={url}"], stdin=dump.stdout, check=True)
    assert dump.returncode == 0


def _drop(url: str) -> None:
    if _kind(url) != "sqlite":
        _administer(url, "DROP DATABASE IF EXISTS {} WITH (FORCE)")


def _administer(url: str, statement: str) -> None:
    address, _, name = url.rpartition("/")
    with closing(psycopg.connect(f"{address}/postgres", autocommit=True)) as administration:
        administration.execute(statement.format(name))
