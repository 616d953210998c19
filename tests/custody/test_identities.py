"""One id space for decisions and reconsiderations, and for every other kind one that no caller can reach."""

import hashlib
import hmac
import uuid

import pytest

from custody import record_types
from custody.keys.keyrings import keyring
from custody.models import Entry
from tests.reconsiderations.conftest import reconsider

pytestmark = pytest.mark.django_db

OF_CALLERS = {"decision", "reconsideration"}


def test_the_ids_of_every_other_kind_begin_with_a_character_that_no_decision_id_may_hold():
    names = {each.name for each in record_types.registered()}
    assert names > OF_CALLERS
    for name in names:
        assert record_types.identity(name, "x") == ("x" if name in OF_CALLERS else f"\x00{name}:x")


@pytest.mark.parametrize("kind", ["decision", "reconsideration", "notice"])
@pytest.mark.parametrize("name", ["\x00", "\x00notice:x", "x\x00"])
def test_a_name_that_could_be_another_kinds_identity_has_none(kind, name):
    with pytest.raises(ValueError, match=r"U\+0000"):
        record_types.identity(kind, name)


@pytest.mark.parametrize("decision_id", ["\\u0000", "\\u0000notice:1", "loan\\u0000"])
def test_no_record_is_taken_under_such_a_decision_id(api, decision_id):
    assert api.ingest(b'{"decision_id": "%s"}' % decision_id.encode()).status_code == 422
    assert not Entry.objects.exists()


def test_a_decisions_record_id_is_what_it_was_in_every_version(api):
    """HMAC of the bare `decision_id`: what is stored is found under the id that it was stored under."""
    record_id = uuid.UUID(api.ingest({"decision_id": "loan-1"}).json()["record_id"])
    digest = hmac.digest(keyring(api.organization.id).index_key, b"loan-1", hashlib.sha256)[:16]
    assert record_id.version == 8
    assert (record_id.bytes[:6], record_id.bytes[9:]) == (digest[:6], digest[9:])


def test_a_reconsideration_and_a_decision_cannot_have_the_same_id(api):
    api.ingest({"decision_id": "loan-1"})
    taken = reconsider(api).json()["decision_id"]
    assert api.ingest({"decision_id": taken}).status_code == 409
    assert api.get(f"/v1/decisions/{taken}").json()["kind"] == "reconsideration"
