"""The statement that inserts records in bulk: each is stored completely or not at all."""

import uuid

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.utils import timezone

from custody.models import Entry, SealedObject, WaitingObject, object_key
from custody.rows.bulk_insert import NewRecord, insert
from decisions.models import Decision

pytestmark = pytest.mark.django_db


def new_record(organization, *, sealed=SealedObject, **fields):
    """Return the rows of a record for one kind of sealed object. `fields` are those of the index row."""
    record_id, now = uuid.uuid4(), timezone.now()
    entry = Entry(
        record_id=record_id, organization=organization, kind="decision", received_at=now, target_id="database",
        state=Entry.State.STORED, statement=b"\x00statement", signature=b"", key_id="key",
    )  # fmt: skip
    body = b"\xff\x00" * 2000
    if sealed is WaitingObject:
        held = {"lease_token": uuid.uuid4(), "lease_until": now}
        stored = WaitingObject(record=entry, organization=organization, queued_at=now, body=body, **held)
    else:
        stored = SealedObject(key=object_key(organization.pk, record_id), body=body)
    row = {"decision_id": str(record_id), "kind": "decision", "source": "tests", "received_at": now, **fields}
    return NewRecord(entry, stored, Decision(record_id=record_id, organization=organization, **row))


def as_stored(record):
    """Return a record's rows in the database, each as its values by column."""
    pk = record.entry.record_id
    return [
        {field.attname: plain(getattr(row, field.attname)) for field in row._meta.concrete_fields}
        for row in (
            Entry.objects.unscoped("a test's own").get(pk=pk),
            type(record.sealed).objects.get(pk=record.sealed.pk),
            Decision.objects.unscoped("a test's own").get(pk=pk),
        )
    ]


def as_given(record):
    return [{f.attname: plain(getattr(row, f.attname)) for f in row._meta.concrete_fields} for row in record]


def plain(value):
    return bytes(value) if isinstance(value, memoryview) else value


@pytest.mark.parametrize("sealed", [SealedObject, WaitingObject])
@pytest.mark.parametrize("count", [1, 2, 64])
def test_rows_are_stored_unchanged(organization, sealed, count):
    records = [
        new_record(organization, sealed=sealed, action='Ä "quoted"\n{}\\', decided_at=timezone.now() if n % 2 else None)
        for n in range(count)
    ]
    assert insert(records) == [True] * count
    assert [as_stored(record) for record in records] == [as_given(record) for record in records]


@pytest.mark.parametrize("others", [0, 3])
def test_an_existing_record_is_not_changed(organization, others):
    known, *new = records = [new_record(organization) for _ in range(1 + others)]
    insert([known])
    again = NewRecord(known.entry, SealedObject(key=known.sealed.key, body=b"other"), known.index_row)
    assert insert([again, *new]) == [False] + [True] * others
    assert [as_stored(record) for record in records] == [as_given(record) for record in records]


@pytest.mark.parametrize("sealed", [SealedObject, WaitingObject])
def test_of_several_records_with_one_id_only_the_first_is_inserted(organization, sealed):
    first, other = new_record(organization), new_record(organization)
    again = new_record(organization, sealed=sealed)
    again.entry.record_id = again.index_row.record_id = first.entry.record_id
    assert insert([first, again, other]) == [True, False, True]
    assert as_stored(first) == as_given(first)


def test_records_of_several_organizations_are_inserted_together(organization, other_api):
    records = [new_record(organization), new_record(other_api.organization)]
    insert(records)
    assert [as_stored(record) for record in records] == [as_given(record) for record in records]


@pytest.mark.postgresql  # SQLite does not look at lengths
@pytest.mark.parametrize("others", [0, 2])
def test_a_value_too_long_for_its_column_is_refused_and_no_row_is_stored(organization, others):
    records = [new_record(organization) for _ in range(others)] + [new_record(organization, source="x" * 129)]
    with pytest.raises(DataError), transaction.atomic():
        insert(records)
    assert not Entry.objects.unscoped("a test's own").exists()


@pytest.mark.postgresql
def test_a_connection_prepares_one_statement_for_any_number(organization):
    def statements():
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM pg_prepared_statements")
            return cursor.fetchall()

    insert([new_record(organization) for _ in range(2)])
    known = statements()
    for count in (3, 7, 64, 100):
        insert([new_record(organization) for _ in range(count)])
    assert statements() == known


def test_the_database_refuses_a_decision_without_an_organization(organization):
    """The index row's foreign key to its entry ensures it, which has one to its organization."""
    record = new_record(organization)
    record.entry.organization_id = record.index_row.organization_id = uuid.uuid4()
    with pytest.raises(IntegrityError):
        checked(lambda: insert([record]))
    with pytest.raises(IntegrityError):
        checked(lambda: new_record(organization).index_row.save(force_insert=True))


def checked(change):
    with transaction.atomic():
        change()
        connection.check_constraints()


@pytest.mark.postgresql
@pytest.mark.parametrize(("condition", "bounds"), [("= 'aa/records/bb'", 1), ("LIKE 'aa/records/%'", 2)])
@pytest.mark.parametrize(("table", "column"), [("custody_sealedobject", "key"), ("decisions_decision", "decision_id")])
def test_one_index_finds_a_value_and_its_beginning(db, table, column, condition, bounds):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN SELECT 1 FROM {table} WHERE {column} {condition}")
        plan = [line.strip() for (line,) in cursor.fetchall()]
    (found_by,) = [line for line in plan if line.startswith("Index Cond")]
    assert found_by.count(column) == bounds
