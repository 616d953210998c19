import gc
import itertools
import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management.commands import flush as flush_command
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.template import Template
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck
from hypothesis import settings as examples
from playwright.sync_api import Browser as Chromium
from whitenoise.middleware import WhiteNoiseMiddleware
from xdist.scheduler import LoadFileScheduling

from accounts import audit, callers, selectors, services, token_hashing
from accounts.back_office import flows
from accounts.models import Organization
from accounts.roles import Role
from config import changes, db
from custody import vaults
from custody.keys import keyrings
from custody.models import StorageTarget
from custody.services import mark_vault, searching, turns
from custody.services.replay import forget as forget_replay
from custody.vaults import storage_targets
from tests import databases, people
from tests.browser.chromium import chromium
from tests.environment import DATA_DIR
from tests.people import Browser
from tests.smtp_server import MailServer, mail_server
from tests.support.kept_rows import make_once

# Examples have no deadline, so a busy computer causes no failure.
examples.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")

# ── Which tests run ──
# PostgreSQL runs every test. SQLite, the embedded default, repeats the tests that may differ there: tests of custody,
# locks, sorting, search and migrations, and of the whole service. Tests of looks, of documents, and without a database
# have the same result on both.
_DIFFERENT_ON_SQLITE = {"custody", "decisions", "system", "upgrade"}  # directories
_DIFFERENT_ON_SQLITE |= {
    "test_audit_trail", "test_back_office_queue", "test_counters", "test_deadlines",
    "test_health", "test_idempotency", "test_identities", "test_leases", "test_lists",
    "test_master_key", "test_nul", "test_outages", "test_races", "test_reports", "test_sealing",
    "test_holds", "test_ledger", "test_planner_statistics", "test_poll_times", "test_policies", "test_polling",
    "test_preview",
}  # fmt: skip
_MEETS_A_DATABASE = {"db", "transactional_db", "live", "live_with_each_vault", "upgraded"}  # fixtures
_STORES_AND_LOCKS = {"transactional_db", "each_vault", "filesystem_vault"}
_BOOTS = {"browser", "docs", "system", "upgrade"}  # directories
_SHARES = ("tests/browser/", "tests/custody/")


class ByFile(LoadFileScheduling):
    """A scheduler that gives workers a file at a time. A directory whose tests share a browser or emulators of clouds
    goes to one worker, because every worker would start those."""

    def _split_scope(self, nodeid: str) -> str:
        return next(filter(nodeid.startswith, _SHARES), super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that starts the workers
        config.add_cleanup(databases.share())


def pytest_collection_finish() -> None:
    """Exclude all loaded objects from garbage collection: they stay to the end."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    chosen = {
        "what-differs": "tests that may differ on SQLite",
        "fast": "tests without a database or another program",
    }
    text = "; ".join(f"{name}: {meaning}" for name, meaning in chosen.items())
    parser.addoption("--only", choices=list(chosen), help=text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select tests, and sort the slowest first, so that no worker is alone with a slow test at the end."""
    subsets = {"what-differs": _differs_on_sqlite, "fast": _is_fast}
    chosen = subsets.get(config.getoption("only"), lambda item: True)
    running = [item for item in items if chosen(item) and _suits_the_database(item)]
    config.hook.pytest_deselected(items=list(set(items) - set(running)))
    items[:] = sorted(running, key=lambda item: (not item.nodeid.startswith(_SHARES), not _boots(item)))


def _places(item: pytest.Item) -> set[str]:
    """Return the directories and the file of a test."""
    return set(item.path.relative_to(item.config.rootpath).with_suffix("").parts)


def _uses(item: pytest.Item, fixtures: set[str]) -> bool:
    return not fixtures.isdisjoint(getattr(item, "fixturenames", ()))


def _suits_the_database(item: pytest.Item) -> bool:
    return not any(item.get_closest_marker(other) for other in {"sqlite", "postgresql"} - {connection.vendor})


def _differs_on_sqlite(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    differs = _places(item) & _DIFFERENT_ON_SQLITE or _uses(item, _STORES_AND_LOCKS)
    in_transactions = marker and marker.kwargs.get("transaction")
    return bool(_meets_a_database(item) and (differs or in_transactions) and not item.get_closest_marker("once"))


def _meets_a_database(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("django_db") or _uses(item, _MEETS_A_DATABASE) or _boots(item))


def _boots(item: pytest.Item) -> bool:
    return bool(_places(item) & _BOOTS or item.get_closest_marker("boots"))


def _is_fast(item: pytest.Item) -> bool:
    return not _meets_a_database(item) and not item.get_closest_marker("slow")


class Api:
    """A caller of the API with a key."""

    def __init__(self, organization: Organization, token: str) -> None:
        self.organization, self.token = organization, token
        self.client = Client(headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False)

    def ingest(self, record: dict[str, Any] | bytes) -> Any:
        raw = record if isinstance(record, bytes) else json.dumps(record).encode()
        return self.post("/v1/ingest/srf", raw)

    def post(self, path: str, raw: bytes, content_type: str = "application/json") -> Any:
        return self.client.post(path, raw, content_type=content_type)

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query)


@pytest.fixture(scope="session")
def browser() -> Iterator[Chromium]:
    """Run the Chromium of a test process. Playwright can start only once in a process."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), databases.database_of_tests():
        yield


@pytest.fixture
def _pepper(db: None) -> None:
    """Create the pepper that all tokens depend on, before the first organization."""
    make_once("pepper", token_hashing.peppers)


@pytest.fixture
def organization(_pepper: None) -> Organization:
    """Create a bank with its keys, so that all copies of its rows use the same keys."""
    return make_once("organization", lambda: with_keys("Example Bank", "owner@bank.example"))


@pytest.fixture
def organization_without_keys(db: None) -> Organization:
    return services.create_organization(name="New Bank", owner_email="owner@new.example", actor=audit.SYSTEM)


@pytest.fixture
def api_for() -> Callable[[Organization, Role], Api]:
    def make(organization: Organization, role: Role = Role.OWNER) -> Api:
        return Api(organization, a_key(organization, role))

    return make


@pytest.fixture
def api(organization: Organization) -> Api:
    """Return a caller with the owner's key of `organization`."""
    return Api(organization, make_once("api", lambda: a_key(organization)))


@pytest.fixture
def api_without_keys(organization_without_keys: Organization, api_for: Callable[..., Api]) -> Api:
    return api_for(organization_without_keys)


@pytest.fixture
def other_api(_pepper: None) -> Api:
    """Return a caller with the owner's key of another organization."""

    def make() -> tuple[Organization, str]:
        other = with_keys("Other Bank", "owner@other.example")
        return other, a_key(other)

    return Api(*make_once("other_api", make))


def with_keys(name: str, owner_email: str) -> Organization:
    organization = services.create_organization(name=name, owner_email=owner_email, actor=audit.SYSTEM)
    keyrings.keyring(organization.pk)
    return organization


def a_key(organization: Organization, role: Role = Role.OWNER) -> str:
    return services.create_api_key(caller=callers.system(organization.id), name="test", role=role)[1]


@pytest.fixture
def signed_in(organization: Organization) -> Callable[..., Browser]:
    """Return a function that creates a member of a role, by default in `organization`, and returns their browser."""

    def make(role: Role = Role.OWNER, email: str = "", of: Organization = organization) -> Browser:
        return people.signed_in(people.add_person(of, role, email).user)

    return make


@pytest.fixture
def smtp(settings: Any) -> Iterator[MailServer]:
    """Run a real mail server, and let the service send to it."""
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


@pytest.fixture
def filesystem_vault(db: None, settings: Any, tmp_path: Path) -> Path:
    """Put custody into a new filesystem vault, and return its root."""
    settings.CUSTODY_VAULT = "filesystem"
    # Another fixture may have created a target already.
    StorageTarget.objects.unscoped("tests have no other").update(retired_at=timezone.now())
    storage_targets.forget()
    target = StorageTarget.objects.create(id="filesystem", provider="filesystem", configuration={"root": str(tmp_path)})
    mark_vault(target=target)
    return tmp_path


@pytest.fixture
def shared_database(transactional_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the DATABASE_URL of a database that threads and processes share as in production.

    On PostgreSQL it is the test database. On SQLite the test database is in memory, and its locks differ from those of
    a file, so the test gets a copy in a file.
    """
    described = connections[DEFAULT_DB_ALIAS].settings_dict
    if connections[DEFAULT_DB_ALIAS].vendor == "postgresql":
        yield "postgres://{USER}:{PASSWORD}@{HOST}:{PORT}/{NAME}".format_map(described)
        return
    in_memory, name = connections[DEFAULT_DB_ALIAS], described["NAME"]
    path = tmp_path_factory.mktemp("database") / "db.sqlite3"
    with sqlite3.connect(path) as copy:
        in_memory.connection.backup(copy)
    copy.close()
    described["NAME"] = str(path)
    connections[DEFAULT_DB_ALIAS] = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        yield f"sqlite:///{path}"
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        described["NAME"] = name
        connections[DEFAULT_DB_ALIAS] = in_memory


_journals = itertools.count()


@pytest.fixture(autouse=True)
def _caches_of_one_test() -> None:
    """Clear the caches of the process, because the database is emptied after each test, and use a new journal."""
    token_hashing.forget()
    changes.forget()
    keyrings.forget()
    vaults.forget()
    turns.forget()
    searching.forget()
    forget_replay()
    flows.forget()
    settings.RETENTION_JOURNAL = f"folder:{DATA_DIR}/journal-{next(_journals)}"


@pytest.fixture(params=["database", "filesystem"])
def each_vault(request: pytest.FixtureRequest) -> str:
    """Run a test once for each vault."""
    if request.param == "filesystem":
        request.getfixturevalue("filesystem_vault")
    return request.param


_RENDER = Template._render
_EMPTY = """DO $$ DECLARE name regclass; filled boolean; BEGIN
FOR name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
    AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission') LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %s)', name) INTO filled;
    IF filled THEN EXECUTE format('DELETE FROM %s', name); END IF;
END LOOP; END $$"""
"""Deleting the few rows is faster than truncating every table."""


@pytest.fixture(scope="session", autouse=True)
def _flush_may_empty_the_audit_trail() -> Iterator[None]:
    """Let tests with real transactions empty the tables at the end, although the audit trail's triggers refuse it.

    Every connection is patched: when Playwright's event loop runs in a thread, Django opens another one there.
    """
    operations = type(connection.ops)
    flush = operations.execute_sql_flush

    def with_triggers_off(ops: Any, statements: list[str]) -> None:
        if connection.vendor == "postgresql":
            return flush(
                ops, ["SET session_replication_role = replica", _EMPTY, "SET session_replication_role = origin"]
            )
        with connection.cursor() as cursor:
            triggers = cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        drop = [f"DROP TRIGGER {name}" for name, _ in triggers]
        statements = [line for line in statements if not re.search("django_content_type|auth_permission", line)]
        return flush(ops, [*drop, *statements, *(sql for _, sql in triggers)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "execute_sql_flush", with_triggers_off)
        # The rows that this signal would create again are not deleted.
        patch.setattr(flush_command, "emit_post_migrate_signal", lambda *args: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_read_once() -> Iterator[None]:
    """Read static files once: each test client creates middleware, and WhiteNoise's opens every static file."""
    read: dict[str, Any] = {}
    read_all = WhiteNoiseMiddleware.add_files_from_finders

    def add_files_from_finders(middleware: WhiteNoiseMiddleware) -> None:
        if not read:
            read_all(middleware)
            read.update(middleware.files)
        middleware.files.update(read)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files_from_finders)
        yield


@pytest.fixture(scope="session", autouse=True)
def _templates_are_rendered_as_in_production(django_test_environment: None) -> None:
    """Restore Django's normal rendering: its test environment copies the context of each template."""
    Template._render = _RENDER


@pytest.fixture(scope="session", autouse=True)
def _tests_wait_for_nothing() -> Iterator[None]:
    """Disable caches that last a second in production, because tests do a lot in a second. Keep the caches of secrets
    enabled, although a test runs in one transaction."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "in_transaction", lambda: False)
        patch.setattr(vaults, "_PROBE_SECONDS", 0)
        patch.setattr(selectors._keys, "limit", 0)
        marks = itertools.count()  # triggers write the real mark at a commit, but most tests do not commit
        patch.setattr(changes, "_read", lambda: str(next(marks)))
        yield
