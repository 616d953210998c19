"""Connections to the database."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from config import db


@pytest.fixture
def opened(shared_database):
    connection.ensure_connection()
    return connection.connection


def test_a_thread_keeps_its_connection_from_request_to_request(opened):
    connection.close_if_unusable_or_obsolete()  # Django does this at the beginning and the end of each request
    assert connection.connection is opened


@pytest.mark.sqlite
def test_an_idle_connection_of_another_thread_does_not_stop_the_log_from_being_emptied(opened, tmp_path):
    path = connection.settings_dict["NAME"]
    other = connection.copy()
    other.ensure_connection()
    for idle in (other, connection):
        idle.cursor().execute("SELECT count(*) FROM custody_entry").fetchall()
    connection.cursor().execute("CREATE TABLE some_rows (n integer)")
    db.empty_log()
    other.close()
    with open(f"{path}-wal", "rb") as journal:
        assert journal.read() == b""


@pytest.mark.postgresql
@pytest.mark.django_db(transaction=True)
def test_a_thread_that_lost_its_connection_gets_a_new_one():
    def backend():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            return cursor.fetchone()[0]

    with ThreadPoolExecutor(1) as thread:
        lost = thread.submit(db.fresh(backend)).result()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [lost])
        assert thread.submit(db.fresh(backend)).result() != lost
        thread.submit(lambda: connection.close()).result()
