import base64
import json

import pytest

from decisions import samples
from decisions.models import Decision

pytestmark = pytest.mark.django_db

RECORD = {"decision_id": "loan-1", "outcome": {"action": "denied"}, "amount": 1.50}


def test_a_new_record_is_a_201_with_its_receipt(api, each_vault):
    response = api.ingest(RECORD)
    assert response.status_code == 201
    receipt = response.json()
    assert receipt["decision_id"] == "loan-1"
    statement = json.loads(base64.b64decode(receipt["envelope"]["payload"]))
    assert statement["subject"][0]["name"] == f"urn:uuid:{receipt['record_id']}"


def test_a_replay_is_a_200_with_the_first_receipt(api, each_vault):
    first = api.ingest(RECORD)
    again = api.ingest(RECORD)
    assert (again.status_code, again.json()) == (200, first.json())
    assert Decision.objects.count() == 1


@pytest.mark.once
def test_real_records_come_back_byte_for_byte(api, each_vault):
    for raw in samples.synthetic_records():
        assert api.ingest(raw).status_code == 201
        decision_id = json.loads(raw)["decision_id"]
        assert api.get(f"/v1/decisions/{decision_id}/record").content == raw
