"""Hot tables in hash partitions: refusals of the command, schema, and query plans."""

import re
import uuid
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, migrations, models, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from custody.models import Entry, SealedObject, object_key
from custody.rows import bulk_insert
from custody.rows.bulk_insert import NewRecord
from custody.rows.partitions import MAX_PARTITIONS, CannotPartition
from decisions.models import Decision

pytestmark = pytest.mark.django_db
PARTS = 4
HOT = [Entry, SealedObject, Decision]


@pytest.fixture
def partition(db: None) -> Callable[..., str]:
    """Run the command in the test's transaction on a new database."""

    def run(parts: int = PARTS) -> str:
        output = StringIO()
        call_command("partition_tables", parts, stdout=output)
        return output.getvalue()

    return run


@pytest.fixture
def partitioned(partition: Callable[..., str]) -> None:
    if not _partitions(Entry):
        partition()


def _rows(statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


def _partitions(model: type[models.Model]) -> int:
    ((count,),) = _rows("SELECT count(*) FROM pg_inherits WHERE inhparent = %s::regclass", model._meta.db_table)
    return int(count)


def _new_record(organization_id: uuid.UUID, record_id: uuid.UUID, received_at: Any) -> NewRecord:
    common = {"organization_id": organization_id, "kind": "decision", "received_at": received_at}
    entry = Entry(
        record_id=record_id, target_id="database", state="stored", statement=b"", signature=b"", key_id="", **common
    )
    sealed = SealedObject(key=object_key(organization_id, record_id), body=b"sealed")
    return NewRecord(entry, sealed, Decision(record_id=record_id, decision_id=str(record_id), source="test", **common))


# ── refusals ──


@pytest.mark.sqlite
def test_sqlite_has_no_partitions(partition):
    with pytest.raises(CannotPartition, match="Only PostgreSQL has partitions"):
        partition()


@pytest.mark.postgresql
@pytest.mark.parametrize("parts", [-1, 0, 1, MAX_PARTITIONS + 1, 10**9])
def test_an_invalid_number_is_refused(partition, parts):
    with pytest.raises(CannotPartition, match=f"takes 2 to {MAX_PARTITIONS} partitions"):
        partition(parts)


@pytest.mark.postgresql
@pytest.mark.once
@pytest.mark.parametrize("model", HOT)
def test_a_table_with_rows_is_refused_unchanged(partition, model):
    with connection.cursor() as cursor:  # any row will do, because foreign keys are checked when the transaction ends
        cursor.execute("SAVEPOINT before")
        _insert_anything(cursor, model)
        with pytest.raises(CannotPartition, match=f"{model._meta.db_table} holds rows: only a new database"):
            partition()
        cursor.execute("ROLLBACK TO before")
    assert not any(map(_partitions, HOT))


def _insert_anything(cursor: Any, model: type[models.Model]) -> None:
    values = {"UUIDField": uuid.uuid4(), "DateTimeField": "2026-01-01T00:00:00Z", "BinaryField": b""}
    fields = [field for field in model._meta.concrete_fields if not field.null]
    row = [values.get(field.target_field.get_internal_type() if field.remote_field else field.get_internal_type(), "")
           for field in fields]  # fmt: skip
    columns, marks = ", ".join(str(field.column) for field in fields), ", ".join(["%s"] * len(fields))
    cursor.execute(f"INSERT INTO {model._meta.db_table} ({columns}) VALUES ({marks})", row)


@pytest.mark.postgresql
def test_tables_that_have_partitions_are_refused_with_their_number(partition, partitioned):
    with pytest.raises(CannotPartition, match=f"custody_entry has {PARTS} partitions already"):
        partition(8)
    assert _partitions(Entry) == PARTS


@pytest.mark.postgresql
@pytest.mark.once
def test_a_database_without_tables_is_refused_with_a_hint_to_migrate(partition):
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA elsewhere")
        cursor.execute("SET LOCAL search_path TO elsewhere")
        with pytest.raises(CannotPartition, match=r"run `manage.py migrate` first"):
            partition()


# ── schema ──

_SHAPE = {
    "columns": """SELECT attrelid::regclass::text, attname, format_type(atttypid, atttypmod), attnotnull, attstorage,
        attcollation, (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)
        FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped AND attrelid IN (SELECT oid FROM pg_class
        WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace)""",
    "constraints": """SELECT conrelid::regclass::text, conname, contype::text, condeferrable, condeferred, convalidated,
        pg_get_constraintdef(oid) FROM pg_constraint WHERE conparentid = 0 AND connamespace = 'public'::regnamespace
        AND conrelid IN (SELECT oid FROM pg_class WHERE NOT relispartition)""",
    "indexes": """SELECT indrelid::regclass::text, indexrelid::regclass::text, indisunique, indisvalid,
        replace(pg_get_indexdef(indexrelid), 'ON ONLY', 'ON') FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE NOT relispartition AND relnamespace = 'public'::regnamespace""",
    "triggers": """SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger
        JOIN pg_class ON pg_class.oid = tgrelid WHERE NOT tgisinternal AND NOT relispartition AND tgparentid = 0""",
}


def _shape() -> dict[str, set[tuple[Any, ...]]]:
    return {name: set(_rows(statement)) for name, statement in _SHAPE.items()}


@pytest.mark.postgresql
@pytest.mark.once
def test_partitioned_tables_match_migrations_except_for_uniqueness_beyond_a_partition(partition):
    before = _shape()
    assert partition().splitlines() == [f"{model._meta.db_table}: {PARTS} partitions" for model in HOT]
    after = _shape()
    assert [_partitions(model) for model in HOT] == [PARTS] * 3
    assert (after["columns"], after["triggers"]) == (before["columns"], before["triggers"])
    for kind in ("constraints", "indexes"):
        gone = before[kind] - after[kind]
        assert {row[:2] for row in gone} <= {("decisions_decision", "one_record_per_decision_id")}
        assert after[kind] - before[kind] == {
            (*row[:-1], re.sub(r"(decision_id[^)]*)\)", r"\1, record_id)", row[-1])) for row in gone
        }


@pytest.mark.postgresql
def test_each_partition_stores_columns_like_its_table(partitioned):
    differing = """SELECT count(*) FROM pg_inherits JOIN pg_attribute part ON part.attrelid = inhrelid
        JOIN pg_attribute whole ON whole.attrelid = inhparent AND whole.attname = part.attname
        WHERE part.attnum > 0 AND part.attstorage <> whole.attstorage"""
    assert _rows(differing) == [(0,)]


@pytest.mark.postgresql
def test_later_migrations_run_on_partitioned_tables_and_back(partitioned):
    before = _shape()
    organization = models.ForeignKey("accounts.Organization", models.PROTECT, null=True, related_name="+")
    check = models.CheckConstraint(condition=~models.Q(later=""), name="later_says_something")
    operations = [
        migrations.AddField("decision", "later", models.CharField(max_length=8, null=True)),
        migrations.AddField("decision", "beside", organization),
        migrations.AddIndex("decision", models.Index(fields=["organization", "later"], name="decisions_later")),
        migrations.AddConstraint("decision", check),
        migrations.AlterField("decision", "source", models.CharField(max_length=200)),
    ]
    later, earlier = migrations.Migration("9999_later", "decisions"), MigrationLoader(connection).project_state()
    later.operations = operations
    with connection.schema_editor() as editor:
        later.apply(earlier.clone(), editor)
    added = "SELECT count(*) FROM pg_attribute JOIN pg_inherits ON attrelid = inhrelid WHERE attname = 'later'"
    assert _rows(added) >= [(PARTS,)]
    indexed = "SELECT count(*) FROM pg_inherits WHERE inhparent = 'decisions_later'::regclass"
    assert _rows(indexed) == [(PARTS,)]
    with connection.schema_editor() as editor:
        later.unapply(earlier.clone(), editor)
    assert _shape() == before


@pytest.mark.postgresql
def test_partitions_do_not_change_models(partitioned):
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)  # exits if there is one


# ── rows and queries ──


@pytest.mark.postgresql
def test_one_statement_spreads_records_over_partitions_and_takes_each_id_once(partitioned, organization):
    now = timezone.now()
    records = [_new_record(organization.pk, uuid.uuid4(), now) for _ in range(60)]
    ids = {record.entry.record_id for record in records}
    assert bulk_insert.insert(records) == ids
    assert bulk_insert.insert(records) == set()
    for model in HOT:
        spread = _rows(f"SELECT count(DISTINCT tableoid), count(*) FROM {model._meta.db_table}")
        assert spread == [(PARTS, 60)]
    together = """SELECT count(*) FROM custody_entry e JOIN decisions_decision d USING (record_id)
        WHERE right(e.tableoid::regclass::text, 1) = right(d.tableoid::regclass::text, 1)"""
    assert _rows(together) == [(60,)]


@pytest.mark.postgresql
def test_a_decision_id_has_one_record_though_no_partition_knows_the_others(partitioned, api):
    answers = [api.ingest({"decision_id": "loan-1", "outcome": {"action": action}}) for action in ("yes", "yes", "no")]
    assert [answer.status_code for answer in answers] == [201, 200, 409]
    assert Decision.objects.for_organization(api.organization).count() == 1


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM custody_entry",
        "UPDATE decisions_decision SET first_id = gen_random_uuid(), reconsiders_id = record_id",
        "UPDATE decisions_decision SET record_id = gen_random_uuid()",
    ],
)
def test_foreign_keys_hold_in_both_directions(partitioned, organization, statement):
    bulk_insert.insert([_new_record(organization.pk, uuid.uuid4(), timezone.now()) for _ in range(8)])
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        with pytest.raises(IntegrityError), transaction.atomic():
            cursor.execute(statement)


@pytest.mark.postgresql
@pytest.mark.parametrize("mode", ["force_custom_plan", "force_generic_plan"])
@pytest.mark.parametrize("model", HOT)
def test_a_record_is_looked_up_in_one_partition(partitioned, model, mode):
    _rows("SELECT set_config('plan_cache_mode', %s, true)", mode)
    key, value = model._meta.pk.column, uuid.uuid4()
    with connection.cursor() as cursor:
        table = model._meta.db_table
        cursor.execute(f"PREPARE looked_up(text) AS SELECT * FROM {table} WHERE {key} = $1::{_type(model)}")
    plan = "\n".join(line for (line,) in _rows(f"EXPLAIN (COSTS OFF) EXECUTE looked_up('{value}')"))
    assert plan.count("Scan") == 1, plan
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE looked_up")


def _type(model: type[models.Model]) -> str:
    return "varchar" if model is SealedObject else "uuid"


@pytest.mark.postgresql
@pytest.mark.parametrize("model", [Entry, Decision])
def test_the_newest_come_from_the_indexes_of_all_partitions_in_order_without_sorting(partitioned, organization, model):
    for other in ("seqscan", "bitmapscan", "sort"):  # the cheapest ways to read a few rows
        _rows("SELECT set_config(%s, 'off', true)", f"enable_{other}")
    newest = model.objects.for_organization(organization).order_by("-received_at", "-pk")[:50]
    plan = newest.explain()
    assert "Merge Append" in plan, plan
    assert plan.count("Index Scan") == PARTS, plan
    assert "Seq Scan" not in plan, plan
    assert "->  Sort" not in plan, plan
