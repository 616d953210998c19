"""A statement is believed only for its signature: consistent forgeries of object and row are not served."""

import hashlib
import json

import pytest

from accounts import callers
from config import changes
from custody import selectors
from custody.models import Entry, Key, SealedObject
from custody.sealing import statements
from custody.sealing.sealer import Damaged
from custody.services import rotate_key
from decisions.models import Decision
from decisions.selectors import record_of
from tests.custody.forging import FORGERIES
from tests.reconsiderations.conftest import reconsider
from tests.support.unguarded import unguarded
from tests.threads import HANGS_SECONDS

pytestmark = [pytest.mark.django_db, pytest.mark.once]

RECORD = {"decision_id": "loan-1", "outcome": {"action": "denied"}}


@pytest.fixture
def entry(api):
    return Entry.objects.get(pk=api.ingest(RECORD).json()["record_id"])


def assert_refused_everywhere(api):
    answers = [
        api.get("/v1/decisions/loan-1/record"),
        api.get("/v1/decisions/loan-1/receipt"),
        reconsider(api),
    ]
    for answer in answers:
        assert answer.status_code == 500
        assert set(answer.json()) == {"detail"}
        assert "damaged" in answer.json()["detail"]
    assert not Decision.objects.exclude(first=None).exists()


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_row_and_object_are_not_served(api, entry, forgery):
    FORGERIES[forgery](entry)
    assert_refused_everywhere(api)
    assert api.ingest(RECORD).status_code == 500, "a replay is answered with a receipt, so it is read too"


@pytest.mark.parametrize(("column", "value"), [("kind", "reconsideration"), ("received_at", "2020-01-01T00:00:00Z")])
def test_an_index_row_with_another_value_is_noticed(api, entry, column, value):
    with unguarded():
        Decision.objects.filter(pk=entry.pk).update(**{column: value})
    assert_refused_everywhere(api)


@pytest.mark.parametrize("column", ["kind", "received_at"])
def test_rows_that_agree_on_another_value_are_noticed(api, entry, column):
    value = {"kind": "reconsideration", "received_at": "2020-01-01T00:00:00Z"}[column]
    for rows in (Entry.objects.filter(pk=entry.pk), Decision.objects.filter(pk=entry.pk)):
        with unguarded():
            rows.update(**{column: value})
    assert_refused_everywhere(api)


def test_a_decision_id_that_points_to_another_record_is_noticed(api, entry):
    """Both records are genuine, but one is shown under the other's id."""
    api.ingest(RECORD | {"decision_id": "loan-2", "outcome": {"action": "approved"}})
    for old, new in (("loan-1", "swapped"), ("loan-2", "loan-1"), ("swapped", "loan-2")):
        with unguarded():
            Decision.objects.filter(decision_id=old).update(decision_id=new)
    assert_refused_everywhere(api)


def test_another_organization_s_row_reveals_nothing_of_a_record(api, other_api, entry):
    with unguarded():
        Decision.objects.filter(pk=entry.pk).update(organization_id=other_api.organization.id)
    assert other_api.get("/v1/decisions/loan-1/record").status_code == 404
    with pytest.raises(Damaged):
        record_of(Decision.objects.select_related("record").get(pk=entry.pk))


def test_a_record_waiting_for_its_vault_is_verified_too(api, organization, entry):
    """Its object is in our database, so one attacker can change both row and object."""
    with unguarded():
        Entry.objects.filter(pk=entry.pk).update(signature=b"", statement=b"{}", state=Entry.State.RESERVED)
    with pytest.raises(Damaged):
        selectors.opened(Entry.objects.get(pk=entry.pk))
    with pytest.raises(Damaged):
        selectors.statement_digest(Entry.objects.get(pk=entry.pk))


def test_a_record_signed_with_a_retired_key_stays_readable(api, entry):
    rotate_key(caller=callers.system(api.organization.id), purpose=Key.Purpose.SIGNING)
    statements._public_key.cache_clear()
    assert selectors.opened(entry).payload == json.dumps(RECORD).encode()


def test_the_statement_of_an_unchanged_record_is_named_by_its_digest(entry):
    assert selectors.statement_digest(entry) == hashlib.sha256(bytes(entry.statement)).digest()


def test_a_signing_key_is_read_once(each_vault, entry, django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(changes, "SECONDS", HANGS_SECONDS)
    reads = 1 if SealedObject.objects.exists() else 0  # of the object, from the database vault
    selectors.opened(entry)
    with django_assert_num_queries(reads):
        selectors.opened(entry)
