"""Drift: new fields and codes in a system's records are counted, named in a dry run, and mailed to the owner."""

import json

import pytest
from django.core import mail as outbox

from accounts.roles import Role
from decisions.mapping import drift
from decisions.mapping.models import MappingWatch, UnknownField
from tests.decisions.test_mappings import MAPPING, RECORD, confirm, create, send

pytestmark = pytest.mark.django_db
BUREAU = {"path": "events.bureau.score", "means": "input", "label": {"en": "your credit report"}}


@pytest.fixture
def mapping(api):
    mapping = create(api, entries=[*MAPPING["entries"], BUREAU])
    confirm(api, mapping)
    return mapping


def ingest(api, decision_id, **changes):
    assert api.ingest(RECORD | {"decision_id": decision_id} | changes).status_code == 201


def unknown(api, mapping):
    fields = api.get(f"/v1/mappings/{mapping['mapping_id']}/unknown-fields").json()["items"]
    return [(field["path"], field["problem"], field["records"]) for field in fields]


def test_new_fields_and_codes_are_counted_once_a_record(api, mapping):
    ingest(api, "known")
    ingest(api, "field", outcome={"status": "DECL", "channels": [{"name": "web"}, {"name": "branch"}]})
    ingest(api, "code", outcome={"status": "HOLD"})
    ingest(api, "beside", events={"bureau": {"score": 640, "grade": "B"}, "other": {"note": "no part of the mapping"}})
    for _ in range(2):  # a second look finds nothing new
        drift.watch_organization(api.organization.pk)
    assert unknown(api, mapping) == [
        ("events.bureau.grade", "a field that no one has explained", 1),
        ("outcome.channels.*.name", "a field that no one has explained", 1),
        ("outcome.status", "a code that no one has explained yet", 1),
    ]
    ingest(api, "again", outcome={"status": "HOLD"})
    drift.watch_organization(api.organization.pk)
    assert ("outcome.status", "a code that no one has explained yet", 2) in unknown(api, mapping)


def test_counts_hold_no_value_of_a_record(api, mapping):
    ingest(api, "field", outcome={"status": "DECL", "note": "Max Example"})
    drift.watch_organization(api.organization.pk)
    assert UnknownField.objects.for_organization(api.organization).get().example == "xxx xxxxxxx"


def test_two_looks_at_the_same_records_count_them_once(api, mapping, monkeypatch):
    drift.watch_organization(api.organization.pk)
    ingest(api, "code", outcome={"status": "HOLD"})
    readings = drift._readings

    def overtaken(organization_id, since, until):
        pairs = list(readings(organization_id, since, until))
        monkeypatch.setattr(drift, "_readings", readings)
        drift.watch_organization(organization_id)
        return iter(pairs)

    monkeypatch.setattr(drift, "_readings", overtaken)
    drift.watch_organization(api.organization.pk)
    assert unknown(api, mapping) == [("outcome.status", "a code that no one has explained yet", 1)]
    assert MappingWatch.objects.for_organization(api.organization).count() == 1


def test_a_new_version_forgets_what_it_may_explain(api, mapping):
    ingest(api, "code", outcome={"status": "HOLD"})
    drift.watch_organization(api.organization.pk)
    send(api, f"mappings/{mapping['mapping_id']}/versions", {"entries": MAPPING["entries"]})
    confirm(api, mapping, 2)
    assert unknown(api, mapping) == []


def test_a_dry_run_names_unknown_fields(api, mapping):
    body = json.dumps(RECORD | {"outcome": {"status": "HOLD"}})
    answer = api.client.post("/v1/ingest/srf?dry_run=true", body, content_type="application/json").json()
    warning = next(warning for warning in answer["warnings"] if warning["kind"] == "unknown_field")
    assert warning["where"] == "outcome.status"
    assert "Say in the mapping Origination what it means" in warning["sentence"]


def test_the_owner_gets_one_mail_a_day(api, signed_in, mapping):
    author, other = signed_in(Role.OWNER, "author@bank.example"), signed_in(Role.ADMIN, "other@bank.example")
    own = create(author, name="Cards", system_name="Cards", system_versions="", entries=MAPPING["entries"])
    confirm(other, own)
    ingest(api, "code", system={"name": "Cards"}, outcome={"status": "HOLD"})
    drift.watch()
    outbox.outbox.clear()
    drift.remind()
    drift.remind()
    [message] = outbox.outbox
    assert message.to == ["author@bank.example"]
    assert "outcome.status" in message.body
    assert "HOLD" not in message.body
