"""Properties that hold for the draft of any record."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notices.drafting import redaction_of
from notices.packs import packs
from notices.phrasebook import Phrase, Phrasebook
from notices.record_paths import Facts, NoSuchField
from tests.notices.drafts import END_MARKS, EVERY, drafted, statements, whole_draft

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
KEYS = TEXTS | st.sampled_from(
    ["received_at", "savings_eur", "term_years", "share_percent", "a.b", 'say "x"', "name", "score", "path", "value"]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**300, 10**301)
    | st.decimals(allow_nan=False, allow_infinity=False).map(float)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.sampled_from(["2026-11-05", "2026-11-05T10:00:00Z", "\u202e", "שלום", "explicit_consent", "R03", "A. B. C."])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
FACTORS = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "factor": SCALARS,
        "value": VALUES,
        "path": st.sampled_from(["events", "events.0", "events.check.score", "outcome.action", '"', "..", "events.9"]),
        "direction": SCALARS | st.sampled_from(["adverse", "favourable"]),
    },
)
REASONS = VALUES | st.fixed_dictionaries({}, optional={"code": SCALARS, "text": SCALARS})
EVENTS_OF_ANY_SHAPE = (
    VALUES
    | st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=3)
    | st.lists(st.dictionaries(KEYS, VALUES, max_size=4), max_size=3)
)
OUTCOMES = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "action": VALUES | st.sampled_from(["denied", "approved"]),
        "reasons": VALUES | st.lists(REASONS, max_size=3),
        "reason_codes": VALUES,
        "principal_factors": VALUES | st.lists(FACTORS, max_size=3),
        "consequences": VALUES,
        "legal_basis": VALUES,
        "amount_eur": VALUES,
        "score": VALUES,
        "solely_automated": SCALARS,
    },
)
RECORDS = st.fixed_dictionaries(
    {"decision_id": TEXTS},
    optional={"decided_at": VALUES, "system": VALUES, "events": EVENTS_OF_ANY_SHAPE, "outcome": OUTCOMES}
    | {"approval": VALUES},
)


@settings(max_examples=100, deadline=None)
@given(RECORDS, st.sampled_from(EVERY))
@example({"outcome": {"value": [0, []]}}, ("general", "en"))
def test_every_statement_about_any_record_is_one_line_that_ends_and_has_a_source(record: dict, under: tuple[str, str]):
    pack, language = under
    raw = json.dumps(record).encode()
    content = drafted(raw, pack, language)
    facts = Facts(raw)
    for item in statements(content):
        line = item["statement"]
        assert len(line.splitlines()) == 1
        assert line.endswith(END_MARKS)
        assert line.count("\u2068") == line.count("\u2069")
        assert line[0] == line[0].upper() or len(line[0].upper()) > 1
        assert facts.find(item["source"]).path == item["source"]
    assert drafted(raw, pack, language) == content


@settings(max_examples=100, deadline=None)
@given(RECORDS, st.sampled_from(EVERY), st.lists(KEYS | st.sampled_from(["outcome", "events", "reasons"]), max_size=3))
def test_the_checklist_finds_left_out_what_a_draft_leaves_out(record: dict, under: tuple[str, str], keys: list[str]):
    pack, language = under
    raw = json.dumps(record).encode()
    phrases = [Phrase(key=key, withheld=True) for key in keys]
    redaction = redaction_of(Facts(raw), packs()[pack], Phrasebook(phrases))
    assert redaction.leaves_out is bool(whole_draft(raw, pack, language, *phrases).withheld)


PLAIN = st.text("abcdefgh XYZäéß日本0123456789", min_size=1, max_size=20).filter(lambda text: text.strip())
AMOUNTS = st.integers(-(10**25), 10**25) | st.decimals(-(10**6), 10**6, places=3, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(EVENTS_OF_ANY_SHAPE, KEYS)
def test_no_value_below_a_withheld_name_is_printed(events: object, key: str):
    secret = {"reference": "canary", "list": ["canary", {"deep": "canary"}]}
    record = {"events": [events, {key: secret, "note": "told"}, {"name": "last", "held": {key: "canary"}}]}
    content = drafted(record, "general", "en", Phrase(key=key, withheld=True))
    assert "canary" not in str(content).lower()


def test_paths_that_lead_nowhere_are_no_fields():
    facts = Facts(b'{"events": [{"name": "a", "x": 1}], "s": "text"}')
    assert facts.find("events.a.x").path == "events.0.x"
    for path in (
        "",
        ".",
        "events",
        "events.1.x",
        "events.b.x",
        "s.x",
        '"\\q"',
        '"',
        "events..x",
        f"events.{'9' * 5000}",
    ):
        with pytest.raises(NoSuchField):
            facts.find(path)
