"""No record can be read with the database or the vault alone.

In clear by design are the columns that lists filter by: decision id, action, system and subject reference.
"""

import base64
import json

import pytest
from django.db import connection

from custody import vaults
from custody.models import Entry, Key, WaitingObject
from custody.vaults import VaultUnavailable

pytestmark = pytest.mark.django_db

WORD = "canary-5fT0qXbd"
NUMBER = 918273645546372819
RECORD = {
    "decision_id": "loan-1",
    "subject": {"reference": "application 7", "name": WORD},
    "system": {"name": "Example Scorer", "vendor": WORD},
    "events": {"scoring": {WORD: {"nested": [1, {"text": f"about {WORD}!"}]}, "number": NUMBER}},
    "outcome": {"action": "denied", "reasons": [WORD]},
    "approval": {"approver": WORD},
    WORD: WORD,
}
MARKS = [WORD.encode(), str(NUMBER).encode()]
# Its spellings in the encodings of columns and objects. Base64 has three, depending on the text's offset.
TRACES = [
    *MARKS,
    *(mark.hex().encode() for mark in MARKS),
    *(base64.b64encode(b"\0" * shift + mark)[4:-4] for mark in MARKS for shift in range(3)),
]


def whole_database():
    """Yield every value of every column of every table, as bytes."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            for row in cursor.fetchall():
                for value in row:
                    yield bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
    if connection.vendor == "sqlite":
        yield connection.connection.serialize()  # the file's bytes, including deleted rows in free pages


def everything_kept(*directories):
    yield from whole_database()
    for directory in directories:
        yield from (path.read_bytes() for path in directory.rglob("*") if path.is_file())


def traces(contents):
    contents = b"\n".join(contents)
    assert b"loan-1" in contents, "the search would not find what is there"
    return [trace for trace in TRACES if trace in contents]


@pytest.fixture
def places(each_vault, tmp_path):
    return [tmp_path]


def test_a_stored_record_is_nowhere_in_plaintext(api, places):
    assert api.ingest(RECORD).status_code == 201
    assert json.loads(api.get("/v1/decisions/loan-1/record").content) == RECORD
    assert api.get("/v1/decisions/loan-1/receipt").status_code == 200
    assert traces(everything_kept(*places)) == []


def test_a_record_waiting_for_its_vault_is_nowhere_in_plaintext(api, filesystem_vault, monkeypatch):
    def unavailable(key: str, body: bytes) -> bool:
        raise VaultUnavailable("down")

    monkeypatch.setattr(vaults.current(), "put_new", unavailable)
    assert api.ingest(RECORD).status_code == 503
    assert Entry.objects.get().state == Entry.State.RESERVED
    assert WaitingObject.objects.count() == 1
    assert traces(everything_kept(filesystem_vault)) == []


def test_replays_conflicts_and_refused_records_leave_no_trace(api, places):
    assert api.ingest({"decision_id": "loan-1"}).status_code == 201
    assert api.ingest(RECORD).status_code == 409
    assert api.ingest(RECORD | {"decision_id": 5}).status_code == 422
    assert api.ingest(json.dumps(RECORD).encode()[:-1]).status_code == 422
    batch = api.post("/v1/ingest/srf/batch", json.dumps(RECORD).encode(), "application/x-ndjson")
    assert b"conflict" in batch.getvalue()
    assert traces(everything_kept(*places)) == []


def test_the_secrets_of_an_organization_are_nowhere_in_plaintext(api, each_vault, tmp_path):
    api.ingest(RECORD)
    secrets = [row.unwrap() for row in Key.objects.filter(organization=api.organization)]
    assert len(secrets) == 3
    contents = b"\n".join(everything_kept(tmp_path))
    for secret in secrets:
        assert secret not in contents
        assert secret.hex().encode() not in contents
        assert base64.b64encode(secret) not in contents


def test_two_seals_of_one_record_share_no_ciphertext(api, other_api, each_vault):
    """Equal records of two organizations cannot be recognized as equal."""
    for client in (api, other_api):
        assert client.ingest(RECORD).status_code == 201
    one, other = (vaults.current().get(key)[-200:] for key in all_keys(api, other_api))
    assert not {one[i : i + 8] for i in range(193)} & {other[i : i + 8] for i in range(193)}


def all_keys(*apis):
    return [key for client in apis for key in vaults.current().list(f"{client.organization.id.hex}/records/")]
