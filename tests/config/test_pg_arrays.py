"""PostgreSQL reads packed arrays like those that psycopg sends."""

import struct
from datetime import UTC, datetime, timedelta, timezone

import psycopg
import pytest
from django.db import DataError, connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config import db
from config.pg_arrays import Array, ArrayDumper, pack
from custody.models import Entry

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]

TEXTS = st.text(st.characters(exclude_characters="\x00", codec="utf-8"))
ZONES = st.integers(-23, 23).map(lambda hours: timezone(timedelta(hours=hours)))
ITEMS = {
    "uuid": st.uuids(),
    "text": TEXTS,
    "varchar": TEXTS,
    "bytea": st.binary(),
    "timestamptz": st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(UTC) | ZONES),
    "bool": st.booleans(),
    "int2": st.integers(-(2**15), 2**15 - 1),
    "int4": st.integers(-(2**31), 2**31 - 1),
    "int8": st.integers(-(2**63), 2**63 - 1),
}


def unpacked(type_name, values):
    """Return what PostgreSQL reads from the packed array: as one array, and as rows."""
    connection.ensure_connection()
    cursor, array = psycopg.Cursor(connection.connection), pack(type_name, values)
    cursor.adapters.register_dumper(Array, ArrayDumper)
    rows = cursor.execute("SELECT unnest(%s)", [array], prepare=True).fetchall()
    return cursor.execute("SELECT %s", [array], prepare=True).fetchone()[0], [value for (value,) in rows]


@pytest.mark.parametrize("type_name", ITEMS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=50)
@given(st.data())
def test_packed_values_are_what_psycopg_loads(type_name, data):
    values = data.draw(st.lists(st.none() | ITEMS[type_name], min_size=1))
    assert unpacked(type_name, values) == (values, values)


def test_types_may_have_django_s_names():
    assert {pack(name, [None]).oid for name in ("timestamp with time zone", "boolean", "integer", "bigint")} == {
        pack(name, [None]).oid for name in ("timestamptz", "bool", "int4", "int8")
    }


def test_a_value_outside_its_type_is_refused():
    with pytest.raises(struct.error):
        pack("int2", [2**15])
    with pytest.raises(TypeError):  # a naive time
        pack("timestamptz", [datetime(2026, 11, 1)])
    with pytest.raises(KeyError):
        pack("circle", [None])
    with pytest.raises(DataError):
        db.fetch_all("SELECT unnest(%s)", [pack("text", ["a\x00b"])], [Entry._meta.pk])
