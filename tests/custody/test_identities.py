"""One id space for decisions and reconsiderations. Callers cannot reach the ids of other kinds."""

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


def test_ids_of_other_kinds_begin_with_a_character_that_decision_ids_cannot_have():
    names = {kind.name for kind in record_types.registered()}
    assert names > OF_CALLERS
    for name in names:
        assert record_types.identity(name, "x") == ("x" if name in OF_CALLERS else f"\x00{name}:x")


@pytest.mark.parametrize("kind", ["decision", "reconsideration", "notice"])
@pytest.mark.parametrize("name", ["\x00", "\x00notice:x", "x\x00"])
def test_a_name_that_could_be_another_kind_s_identity_is_refused(kind, name):
    with pytest.raises(ValueError, match=r"U\+0000"):
        record_types.identity(kind, name)


@pytest.mark.parametrize("decision_id", ["\\u0000", "\\u0000notice:1", "loan\\u0000"])
def test_a_record_under_such_a_decision_id_is_refused(api, decision_id):
    assert api.ingest(b'{"decision_id": "%s"}' % decision_id.encode()).status_code == 422
    assert not Entry.objects.exists()


def test_a_decision_s_record_id_is_the_same_in_every_version(api):
    """HMAC of the bare `decision_id`, so that stored records are found under their ids."""
    record_id = uuid.UUID(api.ingest({"decision_id": "loan-1"}).json()["record_id"])
    digest = hmac.digest(keyring(api.organization.id).index_key, b"loan-1", hashlib.sha256)[:16]
    assert record_id.version == 8
    assert (record_id.bytes[:6], record_id.bytes[9:]) == (digest[:6], digest[9:])


def test_a_reconsideration_and_a_decision_cannot_have_the_same_id(api):
    api.ingest({"decision_id": "loan-1"})
    decision_id = reconsider(api).json()["decision_id"]
    assert api.ingest({"decision_id": decision_id}).status_code == 409
    assert api.get(f"/v1/decisions/{decision_id}").json()["kind"] == "reconsideration"
