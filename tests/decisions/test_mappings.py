"""Mappings: one person proposes what fields mean, another confirms it, and records are read by what is confirmed."""

import json

import pytest
from django.db import IntegrityError

from accounts.models import AuditEvent
from accounts.roles import Role
from decisions.mapping import selectors
from decisions.mapping.models import Mapping, MappingVersion
from decisions.mapping.selection import Identity
from tests.cases import each_case
from tests.people import Browser

pytestmark = pytest.mark.django_db

DENIED = {
    "path": "outcome.status",
    "means": "decision",
    "values": {"DECL": {"outcome": "denied", "en": "We declined it.", "relation": "equivalent"}},
}
MAPPING = {"name": "Origination", "system_name": "Origination", "system_versions": ">=4,<5", "entries": [DENIED]}
RECORD = {"decision_id": "a-1", "system": {"name": "Origination", "version": "4.1"}, "outcome": {"status": "DECL"}}


def send(who, path, body):
    if isinstance(who, Browser):
        return who.call("POST", f"/v1/{path}", body)
    return who.client.post(f"/v1/{path}", json.dumps(body), content_type="application/json")


def create(client, **changes):
    answer = send(client, "mappings", MAPPING | changes)
    assert answer.status_code == 201, answer.content
    return answer.json()


def confirm(client, mapping, version=1):
    return send(client, f"mappings/{mapping['mapping_id']}/confirm", {"version": version})


def read(client, record=RECORD, **more):
    answer = send(client, "mappings/read", {"record": record, **more})
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_a_mapping_reads_records_once_it_is_confirmed(api):
    mapping = create(api)
    assert read(api)["values"][-1]["means"] == "decision"  # by the built-in mapping, in a word that it does not know
    confirmed = confirm(api, mapping).json()
    assert confirmed["confirmed_at"]
    reading = read(api)
    assert (reading["mapping_id"], reading["version"]) == (mapping["mapping_id"], 1)
    assert reading["values"][-1] == {
        "path": "outcome.status", "means": "decision", "stored": "DECL", "decode": "told as denied",
    }  # fmt: skip
    assert reading["unmapped"] == []


def test_a_newer_version_applies_only_once_it_is_confirmed(api):
    mapping = create(api)
    confirm(api, mapping)
    other = DENIED | {"values": {"DECL": {"outcome": "withdrawn", "relation": "equivalent"}}}
    made = send(api, f"mappings/{mapping['mapping_id']}/versions", {"entries": [other]}).json()
    assert (made["version"], made["confirmed_at"]) == (2, None)
    assert read(api)["values"][-1]["decode"] == "told as denied"
    assert confirm(api, mapping, 1).status_code == 409
    confirm(api, mapping, 2)
    assert read(api)["values"][-1]["decode"] == "told as withdrawn"


def test_the_same_entries_again_make_no_version(api):
    mapping = create(api)
    again = send(api, f"mappings/{mapping['mapping_id']}/versions", {"entries": [DENIED]}).json()
    assert again["version"] == 1
    assert MappingVersion.objects.count() == 1


def test_entries_are_kept_as_they_were_sent(api):
    assert create(api)["versions"][0]["entries"] == [DENIED]


def test_a_name_is_given_once_in_an_organization(api):
    create(api)
    assert send(api, "mappings", MAPPING).status_code == 409


# ── four eyes ──


def test_a_member_does_not_confirm_their_own_version_if_another_can(api, signed_in):
    author, other = signed_in(Role.OWNER, "author@bank.example"), signed_in(Role.ADMIN, "other@bank.example")
    mapping = create(author)
    refusal = confirm(author, mapping)
    assert (refusal.status_code, "another owner or admin" in refusal.json()["detail"]) == (409, True)
    confirmed = confirm(other, mapping).json()
    assert (confirmed["confirmed_by"], confirmed["is_confirmed_alone"]) == ("member other@bank.example", False)


def test_a_key_confirms_its_own_version_and_the_version_says_so(api):
    confirmed = confirm(api, create(api)).json()
    assert confirmed["is_confirmed_alone"]


def test_proposals_and_confirmations_are_in_the_audit_trail_without_entries(api):
    confirm(api, create(api))
    events = AuditEvent.objects.filter(object_kind="mapping").order_by("pk")
    assert [event.verb for event in events] == ["mapping.proposed", "mapping.confirmed"]
    assert "outcome.status" not in str(list(events.values()))


# ── proposals ──


def test_entries_are_proposed_from_posted_records_and_from_those_in_custody(api, other_api):
    posted = send(api, "mappings/propose", {"records": [RECORD]}).json()
    assert api.ingest(RECORD).status_code == 201
    stored = send(api, "mappings/propose", {"system_name": "Origination"}).json()
    assert posted == stored
    entries = {item["path"]: item["entry"] for item in stored["items"]}
    assert (stored["samples"], entries["outcome.status"]["values"]["DECL"]["outcome"]) == (1, "denied")
    assert send(other_api, "mappings/propose", {"system_name": "Origination"}).json() == {"samples": 0, "items": []}


def test_proposals_need_samples(api):
    assert send(api, "mappings/propose", {}).status_code == 422


# ── which mapping applies ──


def identity(name="", version="", source=""):
    return Identity(name, version, source)


@each_case(
    ("who", "record", "chosen"),
    [
        (identity("Origination", "4.1"), {}, "system"),
        (identity("Origination", "5.0"), {}, None),
        (identity("Origination", "build-7"), {}, None),
        (identity("Origination", "4.1", "nightly"), {"type": "v2"}, "system"),
        (identity("Other", "4.1", "nightly"), {"type": "v2"}, "source"),
        (identity(), {"type": "v2"}, "field"),
        (identity(), {"type": ["v2"]}, None),
        (identity(), {}, None),
    ],
)
def test_the_system_selects_before_the_source_and_the_source_before_a_field(organization, who, record, chosen):
    names = ["field", "source", "system"]
    selects = [
        {"field_path": "type", "field_value": "v2"},
        {"source": "nightly"},
        {"system_name": "Origination", "system_versions": ">=4,<5"},
    ]
    for name, columns in zip(names, selects, strict=True):
        mapping, made = Mapping.objects.get_or_create(organization=organization, name=name, defaults=columns)
        if made:
            MappingVersion.objects.create(
                mapping=mapping, number=1, entries=[], digest="", confirmed_at="2999-01-01T00:00:00Z", confirmed_by="x"
            )
    version = selectors.applicable(organization.pk, who, record)
    assert (version.mapping.name if version else None) == chosen


def test_another_organizations_mapping_reads_nothing_and_is_not_there(api, other_api):
    mapping = create(api)
    confirm(api, mapping)
    assert read(other_api)["mapping_id"] is None
    assert other_api.get(f"/v1/mappings/{mapping['mapping_id']}").status_code == 404
    assert confirm(other_api, mapping).status_code == 404


@each_case(
    "changes",
    [
        {"system_name": "", "system_versions": ""},
        {"system_name": ""},
        {"system_versions": "four"},
        {"name": "-"},
        {"entries": []},
        {"entries": [DENIED, DENIED]},
        {"entries": [DENIED | {"path": "a[?match(@.b, '(a+)+')]"}]},
        {"field_path": "a..b"},
    ],
)
def test_a_mapping_that_selects_or_says_nothing_is_refused(api, changes):
    assert send(api, "mappings", MAPPING | changes).status_code == 422


def test_the_database_refuses_a_mapping_without_records_and_a_confirmation_without_a_name(organization):
    with pytest.raises(IntegrityError):
        Mapping.objects.create(organization=organization, name="x")
