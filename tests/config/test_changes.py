"""A process caches rows that every request needs until any database client changes a watched row."""

import time
from threading import Barrier

import pytest
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.db.models import F
from django.utils import timezone

from accounts import audit, callers, services
from accounts.models import ApiKey, Member, Organization, User
from accounts.roles import Role
from config import change_triggers, changes, db, triggers
from config.changes import Remembered
from custody.keys import keyrings
from custody.models import Key, StorageTarget
from custody.vaults import storage_targets
from retention.models import Policy
from tests.cases import each_case
from tests.threads import HANGS_SECONDS, at_once

read_mark = changes._read  # the real one, which tests replace

ADDED = {
    ApiKey: {"key_id": "f" * 16},
    Key: {"key_id": "another", "retired_at": timezone.now()},
    Member: {"user_id": 0},
    Organization: {"slug": "another"},
    Policy: {"number": 2},
    StorageTarget: {"retired_at": timezone.now()},
    User: {"email": "another@bank.example"},
}
"""Columns that a copy of a row needs to be unique."""
UNWATCHED = [
    (ApiKey, "last_used_at"),
    (StorageTarget, "folders_searched"),
    (StorageTarget, "next_folder"),
    (Member, "onboarding_opened"),
    (User, "totp_counter"),
]


@pytest.fixture
def organization(shared_database):
    """Return an organization with a row of every watched model."""
    made = services.create_organization(name="Example Bank", owner_email="owner@bank.example", actor=audit.SYSTEM)
    services.create_api_key(caller=callers.system(made.pk), name="test", role=Role.OWNER)
    keyrings.keyring(made.pk)
    storage_targets.current()
    now = timezone.now()
    made_at = {"created_at": now, "begins_at": now}
    Policy.objects.create(organization=made, number=1, days=30, created_by="test", shortens=False, **made_at)
    return made


def replaces_the_mark(change) -> bool:
    before = read_mark()
    change()
    return read_mark() != before


def rows_of(model):
    return model._base_manager.all()


def add_copy(model):
    row = rows_of(model).first()
    row.pk = model._meta.pk.get_default()
    row._state.adding = True
    for name, value in ADDED[model].items():
        setattr(row, name, value)
    if model is Member:
        row.user = User.objects.create(email="member@bank.example")
    row.save(force_insert=True)
    return row


def test_every_watched_model_is_tried_here():
    assert set(ADDED) == set(change_triggers.watched())


def test_each_insert_update_and_delete_of_a_watched_row_replaces_the_mark(organization):
    added = {}
    for model in ADDED:
        assert replaces_the_mark(lambda model=model: added.update({model: add_copy(model)})), model
        unwatched = change_triggers._watched[model]
        column = [f.attname for f in model._meta.concrete_fields if f.name not in unwatched][-1]
        assert replaces_the_mark(lambda model=model, column=column: rows_of(model).update(**{column: F(column)})), model
    for model in added.keys() - {Key, StorageTarget}:  # the database refuses to delete their rows
        row = added[model]
        delete = rows_of(model).filter(pk=row.pk)._raw_delete
        assert replaces_the_mark(lambda delete=delete: delete("default")), model


@pytest.mark.postgresql
def test_a_truncate_of_a_watched_table_replaces_the_mark_or_is_refused(organization):
    refused = set()

    def truncate(model):
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # PostgreSQL truncates no table with pending triggers
            try:
                with transaction.atomic():
                    cursor.execute(f"TRUNCATE {model._meta.db_table} CASCADE")
            except (IntegrityError, ProgrammingError):  # by a guard: custody and the audit trail refer to most tables
                refused.add(model)

    for model in ADDED:
        assert replaces_the_mark(lambda model=model: truncate(model)) != (model in refused), model
    assert {Policy} <= ADDED.keys() - refused


@each_case(("model", "column"), UNWATCHED)
def test_an_unwatched_column_does_not_change_the_mark(organization, model, column):
    assert not replaces_the_mark(lambda: rows_of(model).update(**{column: F(column)}))


def test_a_statement_that_ignores_conflicts_replaces_the_mark_too(organization):
    row = rows_of(User).first()
    row.pk, row.email = None, "ignored@bank.example"
    assert replaces_the_mark(lambda: User.objects.bulk_create([row], ignore_conflicts=True))


def test_a_rolled_back_change_does_not_change_the_mark(organization):
    def roll_back():
        with transaction.atomic():
            rows_of(Organization).update(name="Other")
            transaction.set_rollback(True)

    assert not replaces_the_mark(roll_back)


def test_a_savepoint_that_is_rolled_back_hides_no_later_change(organization):
    def change():
        with transaction.atomic():
            with transaction.atomic():
                rows_of(Organization).update(name="Other")
                if connection.vendor == "postgresql":
                    connection.check_constraints()  # fires deferred triggers
                transaction.set_rollback(True)
            rows_of(Organization).update(name="Third")

    assert replaces_the_mark(change)


def test_migrate_restores_triggers_that_a_rebuilt_table_has_lost(organization):
    triggers.drop(change_triggers.PREFIX)
    assert not replaces_the_mark(lambda: rows_of(Key).update(algorithm=F("algorithm")))
    triggers.install()
    assert triggers.missing(change_triggers.PREFIX) == []
    assert replaces_the_mark(lambda: rows_of(Key).update(algorithm=F("algorithm")))


@pytest.mark.postgresql
def test_changes_of_keys_and_of_storage_in_either_order_do_not_deadlock(organization):
    """A transaction locks the mark only while it commits, when it waits for no other lock."""
    met = Barrier(2, timeout=HANGS_SECONDS)

    def change(number):
        with transaction.atomic():
            rows_of((Key, StorageTarget)[number]).update(retired_at=F("retired_at"))
            met.wait()
            db.lock("what both wait for")

    at_once(2, change)


# ── memory ──


@pytest.fixture
def remembered(organization, monkeypatch):
    """Return a cache of organizations' names under the real mark."""
    monkeypatch.setattr(changes, "_read", read_mark)
    monkeypatch.setattr(changes, "SECONDS", HANGS_SECONDS)
    changes.forget()
    return Remembered(2)


def test_a_value_read_before_a_change_is_not_served_under_the_newer_mark(organization, remembered):
    mark = changes.mark()
    name = Organization.objects.get(pk=organization.pk).name
    rows_of(Organization).update(name="Other")
    remembered.add(organization.pk, name, mark)
    assert remembered.get(organization.pk) == name, "for this second"
    changes.ask()
    assert remembered.get(organization.pk) is None
    assert remembered.last(organization.pk) == name


def test_a_value_is_served_without_a_query_until_the_mark_is_a_second_old(organization, remembered, monkeypatch):
    remembered.add(organization.pk, "name", changes.mark())
    assert remembered.get(organization.pk) == "name"
    monkeypatch.setattr(changes, "_asked", changes._asked._replace(at=time.monotonic() - changes.SECONDS))
    assert remembered.get(organization.pk) is None
    changes.mark()
    assert remembered.get(organization.pk) == "name"


def test_a_value_expires_even_if_no_trigger_fires(organization, remembered, monkeypatch):
    monkeypatch.setattr(changes, "_MAX_AGE_SECONDS", 0)
    remembered.add(organization.pk, "name", changes.mark())
    changes.mark()
    assert remembered.get(organization.pk) is None


def test_the_least_recently_used_value_is_dropped_first(organization, remembered):
    mark = changes.mark()
    remembered.add(1, "a", mark)
    remembered.add(2, "b", mark)
    changes.ask()
    assert remembered.get(1) == "a"
    remembered.add(3, "c", mark)
    assert [remembered.last(key) for key in (1, 2, 3)] == ["a", None, "c"]


def test_a_value_read_within_a_transaction_is_not_remembered(organization, remembered, monkeypatch):
    monkeypatch.setattr(db, "in_transaction", lambda: connection.in_atomic_block)
    with transaction.atomic():
        remembered.add(organization.pk, "name", changes.mark())
    assert remembered.last(organization.pk) is None
