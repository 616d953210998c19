"""Exchange of mappings: what other tools declare becomes proposals, and an exported contract the same entries again."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from decisions.mapping.exchange import data_contract, plain_yaml
from decisions.mapping.exchange.declarations import BadImport
from decisions.mapping.exchange.dictionary_table import Columns
from decisions.mapping.exchange.importing import proposals_of
from decisions.mapping.models import Mapping, MappingVersion
from decisions.record.meanings import Entry, OutcomeKind
from tests.cases import each_case
from tests.decisions.test_mappings import send

ODCS = jsonschema.Draft201909Validator(json.loads(Path(__file__).with_name("odcs-3.2.0.schema.json").read_text()))

CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: 4f7c
version: 1.0.0
status: active
schema:
- name: credit_decisions
  properties:
  - name: outcome
    logicalType: object
    properties:
    - name: status
      enum: [{value: D, label: Denied}, {value: NO, label: Approved}]
    - name: reasons
      logicalType: array
      items:
        logicalType: object
        properties:
        - name: code
          quality: [{metric: invalidValues, arguments: {validValues: [01, 02]}}]
    - {name: counter_amount, logicalType: number}
  - name: events
    properties:
    - {name: ssn, classification: Restricted}
    - {name: income, classification: confidential}
    - name: bureau
      properties: [{name: inq, physicalName: inquiries, description: Number of recent inquiries}]
"""
TABLE = """Field;Name;Code;Text
outcome.declineReasons[].code;Reason;A1;Your accounts are too new
outcome.declineReasons[].code;;A2;
events.bureau.score;Credit score;;
"""
SCHEMA = {
    "$defs": {
        "Status": {
            "title": "StatusEnum",
            "oneOf": [{"const": "A", "title": "approved"}, {"const": "D", "title": "denied"}],
        },
        "Node": {"properties": {"next": {"$ref": "#/$defs/Node"}, "status": {"$ref": "#/$defs/Status"}}},
    },
    "properties": {
        "outcome": {"$ref": "#/$defs/Node"},
        "events": {
            "properties": {
                "bureau": {
                    "properties": {
                        "checked": {"title": "Date of your report", "anyOf": [{"type": "string"}, {"type": "null"}]},
                        "lines": {"type": "array", "items": {"type": "string", "description": "Credit lines"}},
                    }
                }
            }
        },
    },
}


def imported(*given, **options):
    return {proposal.field.path: proposal for proposal in proposals_of(*given, **options)}


def entries(proposals):
    shown = {path: dict(proposal.entry or {}) for path, proposal in proposals.items()}
    return {
        path: {name: entry[name] for name in entry if name not in ("path", "source", "why")}
        for path, entry in shown.items()
    }


# ── import ──


def test_a_data_contract_becomes_proposals_with_its_labels_codes_and_classifications():
    proposals = imported("odcs", CONTRACT)
    assert entries(proposals) == {
        "outcome.status": {
            "means": "decision",
            "values": {
                "D": {"outcome": "denied", "relation": "equivalent"},
                "NO": {"outcome": "approved", "relation": "equivalent"},
            },
        },
        "outcome.reasons.*.code": {
            "means": "reason",
            "values": {"01": {"relation": "equivalent"}, "02": {"relation": "equivalent"}},
        },
        "outcome.counter_amount": {},
        "events.ssn": {"means": "not_told", "class": "secret"},
        "events.income": {"means": "not_told", "class": "internal"},
        "events.bureau.inquiries": {"means": "input", "label": {"en": "Number of recent inquiries"}},
    }
    assert {path: proposal.question for path, proposal in proposals.items() if proposal.question} == {
        "outcome.reasons.*.code": "What do these codes mean, in words: 01, 02?",
        "outcome.counter_amount": "Which currency is it in? Does it count cents?",
        "events.income": "May a letter to the person name it?",
    }


def test_an_object_of_a_contract_is_named_where_there_are_several():
    several = CONTRACT + "- name: other\n  properties: [{name: x}]\n"
    with pytest.raises(BadImport, match="Name one object of the contract's schema: credit_decisions, other"):
        imported("odcs", several)
    assert list(imported("odcs", several, object_name="other", below="original")) == ["original.x"]


def test_a_data_dictionary_becomes_proposals_by_the_columns_that_were_chosen():
    columns = Columns("Field", label="Name", code="Code", meaning="Text")
    proposals = imported("csv", TABLE, columns=columns)
    assert entries(proposals) == {
        "outcome.declineReasons.*.code": {
            "means": "reason",
            "label": {"en": "Reason"},
            "values": {
                "A1": {"en": "Your accounts are too new", "relation": "equivalent"},
                "A2": {"relation": "equivalent"},
            },
        },
        "events.bureau.score": {"means": "input", "label": {"en": "Credit score"}},
    }
    assert proposals["outcome.declineReasons.*.code"].question == "What do these codes mean, in words: A2?"


def test_a_json_schema_becomes_proposals_by_its_titles_and_alternatives():
    proposals = imported("json_schema", json.dumps(SCHEMA))
    assert entries(proposals) == {
        "outcome.status": {
            "means": "decision",
            "label": {"en": "StatusEnum"},
            "values": {
                "A": {"outcome": "approved", "relation": "equivalent"},
                "D": {"outcome": "denied", "relation": "equivalent"},
            },
        },
        "events.bureau.checked": {"means": "input", "label": {"en": "Date of your report"}},
        "events.bureau.lines.*": {"means": "input", "label": {"en": "Credit lines"}},
    }


@each_case(
    ("given", "problem"),
    [
        (("odcs", "a: &x [1]\nb: *x"), "anchors"),
        (("odcs", "a: !!python/object:os.system x"), "tags"),
        (("odcs", "[" * 100), "levels deep"),
        (("odcs", "- a\n" * 60_000), "more than 50000 values"),
        (("odcs", "a: [1"), "not valid YAML in line"),
        (("odcs", "a: 1"), "no data contract"),
        (("odcs", "kind: DataContract\napiVersion: v2.2.2"), "not v3"),
        (("odcs", "kind: DataContract\napiVersion: v3.0.0"), "no schema"),
        (("odcs", "kind: DataContract\napiVersion: v3.0.0\nschema: [{name: x, properties: 3}]"), "not a list"),
        (("csv", "a,b\n1,2"), "Name the columns"),
        (("csv", "a,b\n1,2", {"columns": Columns("c")}), "no header with these columns: c"),
        (("csv", "a,b\n=1+1,2", {"columns": Columns("a")}), "Row 2 has a formula"),
        (("csv", "a\nx..y", {"columns": Columns("a")}), "Row 2"),
        (("csv", "a\n" + "x\n" * 20_001, {"columns": Columns("a")}), "more than 20000 rows"),
        (("csv", "a\n" + "".join(f"f{n}\n" for n in range(1001)), {"columns": Columns("a")}), "more than 1000 fields"),
        (("csv", "a\nx", {"columns": Columns("a"), "below": "y.**"}), "Row 2: .*at the end only"),
        (("json_schema", '{"properties": {"a": {}}}', {"below": "y.**"}), "cannot be mapped: .*at the end only"),
        (("json_schema", json.dumps({"properties": {"a" * 1025: {}}})), "at most 1024 characters"),
        (("json_schema", "{"), "Invalid JSON"),
        (("json_schema", "{}"), "declares no fields"),
        (("json_schema", '{"properties": {"a": {"$ref": "http://x.example/y"}}}'), "another document"),
    ],
)
def test_a_document_that_is_invalid_or_too_large_is_refused_with_the_reason(given, problem):
    *positional, options = given if isinstance(given[-1], dict) else (*given, {})
    with pytest.raises(BadImport, match=problem):
        imported(*positional, **options)


def test_references_that_multiply_are_not_followed_without_end():
    levels = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}, {"$ref": f"#/$defs/l{n + 1}"}]} for n in range(30)}
    with pytest.raises(BadImport, match="more than 100000 parts"):
        imported("json_schema", json.dumps({"$defs": levels | {"l30": {"type": "string"}}, "$ref": "#/$defs/l0"}))


def test_codes_that_references_multiply_are_bounded():
    fields = {f"f{number}": {"$ref": "#/$defs/codes"} for number in range(100)}
    schema = {"$defs": {"codes": {"enum": [f"c{number}" for number in range(2000)]}}, "properties": fields}
    with pytest.raises(BadImport, match="f10 has more than 2000 codes, or all fields more than 20000"):
        imported("json_schema", json.dumps(schema))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text):
    for document_format in ("odcs", "json_schema", "csv"):
        try:
            proposals_of(document_format, text, columns=Columns("a"))
        except BadImport:
            continue


def test_scalars_of_yaml_are_texts():
    assert plain_yaml.read("[01, NO, 1e3, 2026-11-20, ~, true]") == ["01", "NO", "1e3", "2026-11-20", "~", "true"]


# ── export ──

WORDS = st.text(min_size=1, max_size=40).map(lambda text: f"w{text}")
LANGUAGES = st.dictionaries(st.sampled_from(["en", "de", "fr-CA"]), WORDS, max_size=3)
CODES = st.text(min_size=1, max_size=20)
KINDS = st.sampled_from(OutcomeKind.__args__)
RELATIONS = st.sampled_from(["equivalent", "broader", "narrower", "not-related-to"])
PATHS = st.sampled_from(["outcome.status", 'a."x.y".*', "r[?@.who == 'p'].text", "events.**"])
COMMON = {"path": PATHS, "label": LANGUAGES, "source": st.sampled_from(["own", "ready", "proposed"]), "why": WORDS}


def values(**required):
    worded = st.tuples(LANGUAGES, st.fixed_dictionaries({"relation": RELATIONS, **required}))
    return st.dictionaries(CODES, worded.map(lambda pair: pair[0] | pair[1]), min_size=1, max_size=4)


def entry(means, **options):
    fixed = {"path": COMMON["path"], "means": st.just(means), **options}
    return st.fixed_dictionaries(fixed, optional={name: COMMON[name] for name in ("label", "source", "why")})


ENTRIES = st.one_of(
    entry("decision", values=values(outcome=KINDS)),
    entry("reason", values=values() | st.just({}), unmapped=st.sampled_from(["block", "as_written"])),
    entry("offer.amount", currency=st.sampled_from(["USD", ".currency"]), scale=st.just("minor")),
    entry("rate", scale=st.sampled_from(["fraction", "percent", "basis_points"])),
    entry("factor", value=st.just(".weight"), direction=st.just(".sign")),
    entry("not_told", **{"class": st.sampled_from(["internal", "secret", "protected", "other_person"])}),
    entry("profile", **{"as": st.just("outcome.score")}),
    entry("input", show=st.just("value")).filter(lambda options: options.get("label")),
)


def version_of(rows):
    mapping = Mapping(pk=7, name="Origination", system_name="Origination", system_versions=">=4,<5")
    return MappingVersion(mapping=mapping, number=3, entries=rows, digest="ab")


@given(st.lists(ENTRIES, min_size=1, max_size=5, unique_by=lambda options: options["path"]))
def test_an_exported_contract_is_valid_and_imports_as_the_same_entries(rows):
    contract = data_contract.contract(version_of(rows))
    ODCS.validate(contract)
    for written in (json.dumps(contract, ensure_ascii=False), yaml.safe_dump(contract, sort_keys=False)):
        back = [field.entry for field in data_contract.read(written)]
        assert [one.model_dump(mode="json", by_alias=True, exclude_unset=True) for one in back] == rows
        assert back == [Entry.model_validate(row) for row in rows]


def test_an_exported_contract_shows_codes_and_classes_as_the_standard_has_them():
    rows = [
        {
            "path": "outcome.r",
            "means": "reason",
            "label": {"en": "reasons"},
            "values": {"R1": {"en": "Too new", "relation": "equivalent"}},
        },
        {"path": "events.ssn", "means": "not_told", "class": "secret"},
    ]
    contract = data_contract.contract(version_of(rows))
    reason, number = contract["schema"][0]["properties"]
    assert (contract["name"], contract["version"], contract["status"]) == ("Origination", "3", "draft")
    assert (reason["businessName"], reason["enum"][0]["value"], reason["enum"][0]["label"]) == (
        "reasons",
        "R1",
        "Too new",
    )
    assert number["classification"] == "secret"
    assert {"property": "decision-record.means", "value": "reason"} in reason["customProperties"]


def test_an_entry_of_a_contract_that_is_invalid_is_refused_with_its_name():
    rows = [{"path": "a", "means": "rate", "scale": "percent"}]
    text = json.dumps(data_contract.contract(version_of(rows))).replace("percent", "per cent")
    with pytest.raises(BadImport, match=r"^a: Input should be"):
        list(data_contract.read(text))


# ── the API ──


@pytest.mark.django_db
def test_a_document_is_imported_and_nothing_is_stored(api):
    answer = send(api, "mappings/import", {"format": "odcs", "document": CONTRACT, "below": "original"})
    items = {item["path"]: item for item in answer.json()["items"]}
    assert items["original.outcome.reasons.*.code"]["codes"] == {"01": {}, "02": {}}
    assert items["original.events.ssn"]["entry"]["class"] == "secret"
    table = {"format": "csv", "document": TABLE, "columns": {"path": "Field", "label": "Name"}}
    assert send(api, "mappings/import", table).json()["items"][0]["label"] == {"en": "Reason"}
    assert not Mapping.objects.exists()


@pytest.mark.django_db
def test_a_document_that_cannot_be_imported_is_refused_in_words(api):
    answer = send(api, "mappings/import", {"format": "odcs", "document": "a: &x [1]\nb: *x"})
    assert answer.status_code == 422
    [problem] = answer.json()["detail"]
    assert problem["msg"] == "The document has anchors or aliases. Write the values out."


@each_case("place", ["y.**", "y[?@.a == 1]", "y..z", "y" * 257])
@pytest.mark.django_db
def test_a_place_has_only_keys_and_positions(api, place):
    body = {"format": "json_schema", "document": '{"properties": {"a": {}}}', "below": place}
    assert send(api, "mappings/import", body).status_code == 422
    assert send(api, "mappings/ready/opa", {"name": "x", "source": "x", "below": place}).status_code == 422


@pytest.mark.django_db
def test_a_version_is_exported_and_its_contract_imported_again(api, other_api):
    rows = [{"path": "outcome.status", "means": "reason", "values": {"R1": {"en": "Too new", "relation": "broader"}}}]
    made = send(api, "mappings", {"name": "Origination", "system_name": "Origination", "entries": rows}).json()
    path = f"/v1/mappings/{made['mapping_id']}/versions/1/export"
    contract = api.get(path)
    ODCS.validate(contract.json())
    again = send(api, "mappings/import", {"format": "odcs", "document": contract.content.decode()}).json()
    assert [item["entry"] for item in again["items"]] == rows
    assert other_api.get(path).status_code == 404
    assert api.get(path.replace("/1/", "/2/")).status_code == 404
