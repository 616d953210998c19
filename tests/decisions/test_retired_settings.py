"""Settings that mappings replace: each becomes entries, or is named for a person to convert."""

from decisions.mapping.exchange.retired_settings import PhraseRow, converted
from decisions.record import profile
from decisions.record.profile import Input, Text
from decisions.record.walk import Table

PATHS = [
    "decision_id",
    "outcome.action",
    "outcome.score",
    "outcome.reasons.*.code",
    "events.application.ssn",
    "events.application.income",
    "events.coSigner.name",
    "events.coSigner.income",
]


def entries(phrases=(), sensitive=(), field_map=None, paths=PATHS):
    result = converted(phrases, sensitive, field_map, paths)
    shown = [entry.model_dump(mode="json", by_alias=True, exclude_unset=True) for entry in result.entries]
    return {row.pop("path"): row for row in shown}, result.leftover


def test_sentences_of_reason_codes_become_code_tables_in_all_languages():
    rows = [
        PhraseRow("en", "R14", "Your accounts are too new."),
        PhraseRow("de", "R14", "Ihre Konten sind zu neu."),
        PhraseRow("en", "R15", "Your income is too low."),
    ]
    table = {
        "R14": {"en": "Your accounts are too new.", "de": "Ihre Konten sind zu neu.", "relation": "equivalent"},
        "R15": {"en": "Your income is too low.", "relation": "equivalent"},
    }
    made, leftover = entries(rows)
    assert {path: (row["means"], row["values"]) for path, row in made.items()} == {
        "outcome.reasons.*.code": ("reason", table),
        "outcome.reason_codes.*": ("reason", table),
    }
    assert leftover == []


def test_labels_of_fields_become_inputs_or_fields_of_the_published_record():
    rows = [
        PhraseRow("en", "events.application.income", label="your income"),
        PhraseRow("fr", "events.application.income", label="vos revenus"),
        PhraseRow("en", "score", label="your score"),
    ]
    made, leftover = entries(rows)
    assert made["events.application.income"]["label"] == {"en": "your income", "fr": "vos revenus"}
    assert made["events.application.income"]["means"] == "input"
    assert (made["outcome.score"]["means"], made["outcome.score"]["as"]) == ("profile", "outcome.score")
    assert leftover == []


def test_a_name_labels_every_field_that_has_it():
    made, _ = entries([PhraseRow("en", "income", label="your income")])
    assert list(made) == ["events.application.income", "events.coSigner.income"]


def test_withheld_phrases_and_sensitive_names_become_fields_that_are_not_told():
    rows = [PhraseRow("en", "events.application.income", label="your income", withheld=True)]
    made, leftover = entries(rows, ["SSN", "co-signer"])
    classes = {path: (row["means"], row["class"]) for path, row in made.items()}
    assert classes == {
        "events.application.ssn": ("not_told", "secret"),
        "events.coSigner.name": ("not_told", "secret"),
        "events.coSigner.income": ("not_told", "secret"),
        "events.application.income": ("not_told", "internal"),
    }
    assert leftover == []


def test_a_sensitive_name_prevails_over_a_label():
    made, _ = entries([PhraseRow("en", "ssn", label="your number")], ["ssn"])
    assert made["events.application.ssn"]["means"] == "not_told"


def test_what_no_entry_can_say_is_left_to_a_person():
    rows = [
        PhraseRow("en", "income", "You earn {value} a month.", "your income"),
        PhraseRow("en", "outcome.action", "We decided."),
        PhraseRow("en", "unknown.path", label="x1"),
        PhraseRow("en", "gone", withheld=True),
        PhraseRow("en", "R9", "It was {value}."),
    ]
    made, leftover = entries(rows, ["passport"])
    assert leftover == ["passport", "gone", "income", "unknown.path", "outcome.action", "R9"]
    assert "gone" not in made


def test_a_field_map_explains_its_targets_and_withholds_the_item():
    field_map = {
        "fields": {"decision_id": "/decision_id", "decided_at": "/timestamp", "outcome.score": "/score", "x": "/x"},
        "constants": {"system.name": "loans"},
        "original": "opa.log",
    }
    made, leftover = entries(field_map=field_map)
    assert {path: row["means"] for path, row in made.items()} == {
        "decision_id": "reference",
        "decided_at": "decided",
        "outcome.score": "profile",
        "system.name": "system.name",
        '"opa.log".**': "not_told",
    }
    assert leftover == ["x"]


def test_a_record_is_read_by_the_converted_entries():
    rows = [PhraseRow("en", "R14", "Your accounts are too new."), PhraseRow("en", "income", label="your income")]
    result = converted(rows, ["ssn"], None, PATHS)
    record = {
        "outcome": {"reasons": [{"code": "R14"}, {"code": "R99"}]},
        "events": {"application": {"ssn": "123-45-6789", "income": 3000}},
    }
    reading = profile.read(record, Table(result.entries))
    reason, income = reading.values
    assert isinstance(reason, Text)
    assert reason.words == {"en": "Your accounts are too new."}
    assert isinstance(income, Input)
    assert income.value is None
    assert [field.path for field in reading.withheld] == ["events.application.ssn"]
    assert [unknown.path for unknown in reading.unknown] == ["outcome.reasons.1.code"]
