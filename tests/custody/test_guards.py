"""The database refuses to delete signed rows and to change their signed columns."""

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from config import row_guards, triggers
from custody.models import Disposal, Entry, SealedObject, WaitingObject
from custody.services import reconcile
from decisions.models import Decision
from notices.models import SealedNotice
from tests.disposals import dispose_of
from tests.notices.conftest import approve_acknowledged, done, drafted, step
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RECORD = {"decision_id": "loan-1", "outcome": {"action": "denied", "reasons": ["Too much debt."]}}
OTHER_KEY = "UPDATE custody_key SET key_id = 'f' WHERE purpose = 'signing'"
REFUSED = [
    "DELETE FROM custody_entry",
    "DELETE FROM custody_sealedobject",
    "DELETE FROM decisions_decision",
    "DELETE FROM notices_sealednotice",
    "DELETE FROM custody_key",
    "DELETE FROM custody_storagetarget",
    "UPDATE custody_entry SET received_at = '2020-01-01T00:00:00+00:00'",
    "UPDATE custody_entry SET statement = signature",
    "UPDATE custody_entry SET signature = statement",
    "UPDATE custody_entry SET key_id = 'other'",
    "UPDATE custody_entry SET kind = 'notice' WHERE kind = 'decision'",
    "UPDATE custody_entry SET state = 'disposed'",
    "UPDATE custody_entry SET state = 'reserved'",
    "UPDATE custody_sealedobject SET body = key_of.body FROM (SELECT body FROM custody_sealedobject LIMIT 1) key_of"
    " WHERE custody_sealedobject.body <> key_of.body",
    "UPDATE custody_sealedobject SET key = 'elsewhere' || key",
    "UPDATE decisions_decision SET decision_id = 'loan-2'",
    "UPDATE decisions_decision SET action = 'granted'",
    "UPDATE decisions_decision SET received_at = '2020-01-01T00:00:00+00:00'",
    "UPDATE notices_sealednotice SET letter_digest = ''",
    "DELETE FROM notices_approval",
    "DELETE FROM notices_noticerevision",
    "UPDATE notices_approval SET approver = 'other'",
    "UPDATE notices_approval SET created_at = '2020-01-01T00:00:00+00:00'",
    "UPDATE notices_approval SET record_id = NULL",
    "UPDATE notices_noticerevision SET content = '{}'",
    OTHER_KEY,
    "UPDATE custody_key SET public_pem = ''  WHERE purpose = 'signing'",
    "UPDATE custody_key SET valid_from = '2015-01-01T00:00:00+00:00'",
    "UPDATE custody_key SET created_at = '2020-01-01T00:00:00+00:00'",
]
REFUSED_AFTER_A_DISPOSAL = [
    "DELETE FROM custody_disposal",
    "UPDATE custody_disposal SET policy = 9",
    "UPDATE custody_disposal SET statement = signature",
    "UPDATE custody_disposal SET disposed_at = '2020-01-01T00:00:00+00:00'",
    "UPDATE custody_entry SET state = 'stored'",
    "UPDATE notices_approval SET record_id = NULL",
    "UPDATE notices_noticerevision SET number = 9",
    "DELETE FROM notices_approval",
    "DELETE FROM custody_entry",
    "DELETE FROM decisions_decision",
]


def assert_refused(statement: str) -> None:
    with pytest.raises(IntegrityError, match="signed rows"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.fixture
def family(api):
    """Create a decision and a notice about it."""
    done(api.ingest(RECORD))
    notice = drafted(api)
    done(approve_acknowledged(api, notice))
    return notice


def test_no_statement_of_the_service_removes_or_changes_signed_rows(family):
    assert SealedNotice.objects.count() == 1
    for statement in REFUSED:
        assert_refused(statement)


def test_a_disposal_erases_columns_but_its_own_row_stays(api, family):
    done(step(api, family, "deliveries", {"channel": "hand"}))
    dispose_of(api.organization)
    assert SealedObject.objects.count() == 0
    assert set(Entry.objects.values_list("state", flat=True)) == {"disposed"}
    assert Disposal.objects.count() == 2
    for statement in REFUSED_AFTER_A_DISPOSAL:
        assert_refused(statement)


def test_an_object_waiting_for_its_vault_stays_until_it_is_stored(api, filesystem_vault, monkeypatch):
    (filesystem_vault / "MARKER").rename(filesystem_vault / "gone")
    assert api.ingest(RECORD).status_code == 503
    assert_refused("DELETE FROM custody_waitingobject")
    assert_refused("UPDATE custody_entry SET received_at = '2020-01-01T00:00:00+00:00'")
    assert_refused("UPDATE custody_entry SET state = 'queued'")
    (filesystem_vault / "gone").rename(filesystem_vault / "MARKER")
    WaitingObject.objects.update(lease_until=None)
    assert reconcile(retry_now=True) == (1, 0)
    assert (WaitingObject.objects.count(), Entry.objects.get().state) == (0, "stored")


@pytest.mark.sqlite
def test_replacing_a_row_is_refused_too(api):
    done(api.ingest(RECORD))
    assert_refused("REPLACE INTO custody_entry SELECT * FROM custody_entry")


@pytest.mark.postgresql
def test_no_guarded_table_is_truncated(api):
    for table in ("custody_entry", "custody_sealedobject", "custody_disposal", "decisions_decision"):
        assert_refused(f"TRUNCATE {table} CASCADE")


def test_a_dropped_guard_is_named_and_created_again(db):
    assert triggers.missing(row_guards.PREFIX) == []
    triggers.drop(row_guards.PREFIX)
    tables = {"custody_entry", "custody_key", "decisions_decision", "notices_sealednotice"}
    assert tables <= set(triggers.missing(row_guards.PREFIX))
    call_command("migrate", verbosity=0)
    assert triggers.missing(row_guards.PREFIX) == []


NEUTERED = {
    "sqlite": ["DROP TRIGGER {name}", "CREATE TRIGGER {name} BEFORE DELETE ON {table} BEGIN SELECT 1; END"],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$"
    ],
}
DISABLED = {"postgresql": ["ALTER TABLE {table} DISABLE TRIGGER {name}"]}


@pytest.mark.parametrize("change", [NEUTERED, DISABLED], ids=["neutered", "disabled"])
@pytest.mark.parametrize(
    "table", ["custody_entry", "accounts_auditevent", "accounts_auditseal", "accounts_auditsealhead"]
)
def test_an_ineffective_guard_is_named_and_created_again(api, change, table):
    connection.check_constraints()  # PostgreSQL cannot alter a table with deferred checks
    name = f"{row_guards.PREFIX}{table}_delete"
    with connection.cursor() as cursor:
        for statement in change.get(connection.vendor, NEUTERED[connection.vendor]):
            cursor.execute(statement.format(name=name, table=table))
    assert triggers.missing(row_guards.PREFIX) == [table]
    call_command("migrate", verbosity=0)
    assert triggers.missing(row_guards.PREFIX) == []
    done(api.ingest(RECORD))
    assert_refused("DELETE FROM custody_entry")


@pytest.mark.postgresql
def test_an_ineffective_trigger_of_an_earlier_version_is_dropped(db):
    function = "guard_old() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$ BEGIN RETURN OLD; END $$"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE FUNCTION {function}")
        cursor.execute("CREATE TRIGGER guard_old BEFORE DELETE ON custody_entry EXECUTE FUNCTION guard_old()")
        triggers.install()
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE tgname = 'guard_old'")
        assert cursor.fetchone() == (0,)


@pytest.mark.sqlite
def test_migrations_meet_no_guard_when_they_rebuild_a_table(db):
    """SQLite refuses to rename a table that a trigger mentions."""
    triggers.before_migrate(plan=[])
    assert triggers.missing(row_guards.PREFIX) == []
    triggers.before_migrate(plan=["a migration"])
    assert "custody_entry" in triggers.missing(row_guards.PREFIX)
    triggers.install()
    assert triggers.missing(row_guards.PREFIX) == []


def test_a_database_administrator_can_still_do_so(api):
    done(api.ingest(RECORD))
    with unguarded():
        Decision.objects.all().delete()
        Entry.objects.all().delete()
    assert Entry.objects.count() == 0
