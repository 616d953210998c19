"""Every letter of the corpus reads as it was last reviewed."""

import difflib
import json
import re

from config.http import strict_json
from notices.packs import packs
from notices.record_paths import Facts
from tests.cases import each_case
from tests.corpus.letters import PLACEHOLDERS, ROOT, Entry, entries, review, stale, table
from tests.notices.drafts import END_MARKS, EVERY, statements

ENTRIES = entries()
_ADDRESS = re.compile(rb"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_UNSEEN = "\u2066\u2067\u2068\u2069\u202a\u202b\u202c\u202d\u202e\u200e\u200f"
_TWO_MARKS = re.compile(rf"[.!?\u2026:;,]\s*[{_UNSEEN}]*[.!?]$")
each_entry = each_case("entry", ENTRIES)


@each_entry
def test_the_letter_is_the_one_that_was_reviewed(entry: Entry):
    known = entry.snapshot.read_text("utf-8") if entry.snapshot.exists() else ""
    today = str(review(entry))
    if today != known:
        lines = difflib.unified_diff(known.split("\n"), today.split("\n"), "reviewed", "today", n=2, lineterm="")
        raise AssertionError("\n".join([f"{entry.name}: read what changed; `make letters` accepts it.", *lines]))


@each_entry
def test_every_citation_leads_to_a_field_of_the_record(entry: Entry):
    facts = Facts(entry.record.read_bytes())
    cited = statements(review(entry).content)
    assert [facts.find(item["source"]).path for item in cited] == [item["source"] for item in cited]


@each_entry
def test_the_service_would_take_the_record(entry: Entry):
    record = strict_json.read(entry.record.read_bytes())
    assert isinstance(record, dict)
    assert 0 < len(record["decision_id"]) <= 256


@each_entry
def test_every_sentence_begins_with_a_capital_and_ends_with_one_mark(entry: Entry):
    for item in statements(review(entry).content):
        text = item["statement"].strip(_UNSEEN)
        assert not text[0].islower(), text
        assert text.endswith(END_MARKS), text
        assert not _TWO_MARKS.search(text), text


def test_all_packs_and_languages_are_among_at_least_150_records():
    assert len(ENTRIES) >= 150
    assert {(entry.pack, review(entry).content["language"]) for entry in ENTRIES} >= set(EVERY)
    assert len({json.loads(entry.record.read_bytes())["decision_id"] for entry in ENTRIES}) == len(ENTRIES)


def test_every_directory_is_a_pack_and_every_letter_has_its_record():
    assert {path.name for path in ROOT.iterdir() if any(path.glob("*.json"))} <= set(packs())
    assert list(stale()) == []


def test_the_organization_of_the_letters_has_settled_all_that_packs_ask_for():
    asked = {name for pack in packs().values() for name in pack.settings if name not in pack.from_record}
    assert asked <= set(PLACEHOLDERS)


def test_no_record_gives_an_address_that_could_be_somebody_s():
    given = {address for path in ROOT.glob("*/*.json") for address in _ADDRESS.findall(path.read_bytes())}
    assert [address for address in given if not address.endswith((b".example", b".invalid", b".test"))] == []


def test_the_table_counts_every_letter():
    *_, total = table().splitlines()
    assert total.split(" | ")[2] == str(len(ENTRIES))
