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
from accounts.models import Organization
from accounts.roles import Role
from config import changes, db
from custody import vaults
from custody.keys import keyrings
from custody.models import StorageTarget
from custody.services import mark_vault, searching, turns
from custody.services.replay import forget as forget_replay
from custody.vaults import storage_targets
from decisions import back_office as decisions_pages
from tests import databases, people
from tests.browser.chromium import chromium
from tests.environment import DATA_DIR
from tests.people import Browser
from tests.smtp_server import MailServer, mail_server
from tests.support.kept_rows import make_once

# How long an example takes is no matter: a busy computer fails nothing.
examples.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.load_profile("patient")

# ── Which tests run ──
# PostgreSQL runs every test. SQLite, the embedded default, then runs again what may differ there: everything that
# takes custody, locks, sorts, searches or migrates, and the whole service. What a page looks like in a browser, what
# a document says and what meets no database is the same on both.
_DIFFERENT_ON_SQLITE = {"custody", "decisions", "system", "upgrade"}  # directories
_DIFFERENT_ON_SQLITE |= {
    "test_audit_trail", "test_back_office_queue", "test_counters", "test_deadlines",
    "test_health", "test_idempotency", "test_identities", "test_leases", "test_lists",
    "test_master_key", "test_nul", "test_outages", "test_races", "test_reports", "test_sealing",
    "test_holds", "test_ledger", "test_poll_times", "test_policies", "test_polling", "test_preview",
}  # fmt: skip
# On partitioned tables, which PostgreSQL alone has, what takes records, reads them and disposes of them runs once more.
_MEETS_HOT_TABLES = (
    "decisions/", "custody/test_adoption", "custody/test_disposals", "custody/test_partitions",
    "reconsiderations/test_chain", "system/test_disposals",
)  # fmt: skip
_MEETS_A_DATABASE = {"db", "transactional_db", "live", "live_with_each_vault", "upgraded"}  # fixtures
_STORES_AND_LOCKS = {"transactional_db", "each_vault", "filesystem_vault"}
_BOOTS = {"browser", "docs", "system", "upgrade"}  # directories
_SHARES = ("tests/browser/", "tests/custody/")


class ByFile(LoadFileScheduling):
    """Gives workers a file at a time, or a directory whose tests share a browser or emulators of clouds: every worker
    that has one of them starts those."""

    def _split_scope(self, nodeid: str) -> str:
        return next(filter(nodeid.startswith, _SHARES), super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return ByFile(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the process that starts the workers
        config.add_cleanup(databases.share())


def pytest_collection_finish() -> None:
    """What is loaded by now stays to the end, so garbage collection need not look at it again and again."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    chosen = {
        "what-differs": "what may differ on SQLite",
        "hot-tables": "what meets the tables that can be partitioned",
        "fast": "what meets no database and no other program",
    }
    text = "; ".join(f"{name}: {meaning}" for name, meaning in chosen.items())
    parser.addoption("--only", choices=list(chosen), help=text)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files of which nothing can be chosen are not even imported."""
    meets = config.getoption("only") != "hot-tables" or collection_path.is_dir() or _in_hot_tables(collection_path)
    return None if meets else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no worker is left alone with it at the end."""
    subsets = {"what-differs": _differs_on_sqlite, "hot-tables": _meets_hot_tables, "fast": _is_fast}
    chosen = subsets.get(config.getoption("only"), lambda item: True)
    running = [item for item in items if chosen(item) and _suits_the_database(item)]
    config.hook.pytest_deselected(items=list(set(items) - set(running)))
    items[:] = sorted(running, key=lambda item: (not item.nodeid.startswith(_SHARES), not _boots(item)))


def _places(item: pytest.Item) -> set[str]:
    """The directories and the file in which a test stands."""
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


def _in_hot_tables(path: Path) -> bool:
    return path.relative_to(databases.CHECKOUT / "tests").as_posix().startswith(_MEETS_HOT_TABLES)


def _meets_hot_tables(item: pytest.Item) -> bool:
    return _in_hot_tables(item.path) and _meets_a_database(item) and not _says_nothing_of_partitions(item)


def _says_nothing_of_partitions(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("once") or item.get_closest_marker("whole"))


def _meets_a_database(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("django_db") or _uses(item, _MEETS_A_DATABASE) or _boots(item))


def _boots(item: pytest.Item) -> bool:
    return bool(_places(item) & _BOOTS or item.get_closest_marker("boots"))


def _is_fast(item: pytest.Item) -> bool:
    return not _meets_a_database(item) and not item.get_closest_marker("slow")


class Api:
    """A caller of the API with a key; `json=` bodies and JSON answers."""

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
    """The one Chromium of a test process: Playwright starts only once in it."""
    with chromium() as running:
        yield running


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), databases.database_of_tests():
        yield


@pytest.fixture
def _pepper(db: None) -> None:
    """What every organization's tokens rest on, whichever is made first."""
    make_once("pepper", token_hashing.peppers)


@pytest.fixture
def organization(_pepper: None) -> Organization:
    """A bank that has its keys: whatever is made for it from here on is sealed with the same ones."""
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
    """The owner's key of `organization`."""
    return Api(organization, make_once("api", lambda: a_key(organization)))


@pytest.fixture
def api_without_keys(organization_without_keys: Organization, api_for: Callable[..., Api]) -> Api:
    return api_for(organization_without_keys)


@pytest.fixture
def other_api(_pepper: None) -> Api:
    """The owner's key of an organization that has nothing to do with `organization`."""

    def make() -> tuple[Organization, str]:
        other = with_keys("Other Bank", "owner@other.example")
        return other, a_key(other)

    return Api(*make_once("other_api", make))


def with_keys(name: str, owner_email: str) -> Organization:
    made = services.create_organization(name=name, owner_email=owner_email, actor=audit.SYSTEM)
    keyrings.keyring(made.pk)
    return made


def a_key(organization: Organization, role: Role = Role.OWNER) -> str:
    return services.create_api_key(caller=callers.system(organization.id), name="test", role=role)[1]


@pytest.fixture
def signed_in(organization: Organization) -> Callable[..., Browser]:
    """Makes a member of this role, in `organization` if nothing else is said, whose session has begun."""

    def make(role: Role = Role.OWNER, email: str = "", of: Organization = organization) -> Browser:
        return people.signed_in(people.add_person(of, role, email).user)

    return make


@pytest.fixture
def smtp(settings: Any) -> Iterator[MailServer]:
    """A real mail server, to which the service sends."""
    with mail_server() as server:
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        yield server


@pytest.fixture
def filesystem_vault(db: None, settings: Any, tmp_path: Path) -> Path:
    """Custody in a filesystem vault of this test's own: its root."""
    settings.CUSTODY_VAULT = "filesystem"
    # Another fixture may have sent records already.
    StorageTarget.objects.unscoped("tests have no other").update(retired_at=timezone.now())
    storage_targets.forget()
    target = StorageTarget.objects.create(id="filesystem", provider="filesystem", configuration={"root": str(tmp_path)})
    mark_vault(target=target)
    return tmp_path


@pytest.fixture
def shared_database(transactional_db: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database that threads and processes share as in production. Yields its DATABASE_URL.

    On PostgreSQL it is the test database. On SQLite that one lives in memory, with locks unlike those of a file,
    so the test gets a copy of it in a file.
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
def _memory_of_one_test_alone() -> None:
    """A process remembers the secrets in the database, which is emptied after each test, and has a journal, whose
    folder the first disposal makes."""
    token_hashing.forget()
    changes.forget()
    keyrings.forget()
    vaults.forget()
    turns.forget()
    searching.forget()
    forget_replay()
    decisions_pages._cached_count.cache_clear()
    settings.RETENTION_JOURNAL = f"folder:{DATA_DIR}/journal-{next(_journals)}"


@pytest.fixture(params=["database", "filesystem"])
def each_vault(request: pytest.FixtureRequest) -> str:
    """Runs a test once for every vault."""
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
"""What few rows there are is deleted faster than every table is truncated."""


@pytest.fixture(scope="session", autouse=True)
def _flush_may_empty_the_audit_trail() -> Iterator[None]:
    """Tests with real transactions end by emptying the tables, which the audit trail's triggers rightly refuse.

    Every connection is meant: once Playwright's event loop runs in a thread, Django opens another one there.
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
        statements = [each for each in statements if not re.search("django_content_type|auth_permission", each)]
        return flush(ops, [*drop, *statements, *(sql for _, sql in triggers)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(operations, "execute_sql_flush", with_triggers_off)
        # What Django would make again is left where it is.
        patch.setattr(flush_command, "emit_post_migrate_signal", lambda *args: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_read_once() -> Iterator[None]:
    """Each test client has middleware of its own, and WhiteNoise's opens every static file when it is made."""
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
    """Django's test environment copies the context of each template that is rendered, for tests that look at it."""
    Template._render = _RENDER


@pytest.fixture(scope="session", autouse=True)
def _tests_wait_for_nothing() -> Iterator[None]:
    """What is remembered or left alone for a second in production is asked each time, for tests do a lot in a second;
    and that a test runs in one transaction keeps no process from remembering its secrets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "in_transaction", lambda: False)
        patch.setattr(vaults, "_PROBE_SECONDS", 0)
        patch.setattr(selectors._keys, "limit", 0)
        marks = itertools.count()  # triggers write the real one at a commit, and most tests end before theirs
        patch.setattr(changes, "_read", lambda: str(next(marks)))
        yield
