"""docs/srf-record.schema.json: it describes the records that the service accepts."""

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

from config.errors import Invalid
from decisions import records, samples
from decisions.models import MAX_DECISION_ID
from tests.docs.documents import CHECKOUT, blocks, text

SCHEMA = json.loads(text("docs/srf-record.schema.json"))
VALIDATOR = Draft202012Validator(SCHEMA)
PROFILE = {"decided_at", "subject", "system", "events", "outcome", "approval"}


def test_the_schema_is_valid_draft_2020_12():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_sample_is_valid():
    for raw in [*samples.mortgage_records(), *samples.synthetic_records()]:
        VALIDATOR.validate(json.loads(raw))


def test_the_record_of_the_page_is_valid_and_accepted():
    (shown,) = [block.code.encode() for block in blocks(CHECKOUT / "docs/srf-record.md") if block.language == "json"]
    VALIDATOR.validate(json.loads(shown))
    assert records.parse(shown)["decision_id"] == "loan-2026-0001"


def test_only_the_decision_id_is_required_and_no_key_is_refused():
    assert SCHEMA["required"] == ["decision_id"]
    assert "additionalProperties" not in SCHEMA
    VALIDATOR.validate({"decision_id": "x"})
    VALIDATOR.validate({"decision_id": "x", "": None, "anything": {"at": ["all"]}, "subject": {"shoe_size": 43}})


@pytest.mark.parametrize(
    "record",
    [
        {},
        [],
        {"decision_id": ""},
        {"decision_id": 5},
        {"decision_id": None},
        {"decision_id": "x" * 257},
        {"decision_id": "x\x00"},
    ],
    ids=repr,
)
def test_a_record_that_the_service_refuses_for_its_shape_is_invalid(record):
    with pytest.raises(ValidationError):
        VALIDATOR.validate(record)
    with pytest.raises(Invalid):
        records.submission(json.dumps(record).encode(), "api")


def test_the_schema_and_the_index_have_the_same_maximum_length_of_an_id():
    assert SCHEMA["properties"]["decision_id"]["maxLength"] == MAX_DECISION_ID


@pytest.mark.parametrize("field", sorted(PROFILE))
def test_a_profile_field_may_be_missing_or_null_but_has_a_fixed_shape(field):
    VALIDATOR.validate({"decision_id": "x", field: None})
    with pytest.raises(ValidationError):
        VALIDATOR.validate({"decision_id": "x", field: 5})


def test_the_page_and_the_schema_name_the_same_fields():
    page = text("docs/srf-record.md").split("## The profile")[1].split("## Paths")[0]
    assert {name for name in SCHEMA["properties"] if f"\n| `{name}` |" in page} == PROFILE | {"decision_id"}
    assert set(SCHEMA["properties"]) == PROFILE | {"decision_id"}
