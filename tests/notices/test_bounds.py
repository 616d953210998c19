"""Upper bounds on what a small record or edit can cost, from drafting to the letter."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accounts.roles import Role
from custody.sealing import field_paths
from notices import content_limits, letters, phrasebook, readability
from notices.content_limits import MAX_STATEMENTS, TooMuch
from notices.drafting import redaction_of
from notices.letters import TooLongForPaper
from notices.letters.outline import outline_of
from notices.localization import sentences
from notices.models import Notice, Phrase
from notices.packs import packs
from notices.record_paths import Facts, NoSuchField
from tests.growth import assert_linear, peak
from tests.notices.conftest import done, drafted, edit, send, shown
from tests.notices.drafts import drafted as draft
from tests.notices.test_back_office import page
from tests.notices.test_letters import letter

DATABASE = pytest.mark.django_db
MIB = 2**20
WITHHELD = phrasebook.Phrase(key="nothing", withheld=True)


# ── drafting ──

RECORDS = {
    "fields": lambda n: {"events": {"e": {f"f{i}": i for i in range(n // 12)}}},
    "a list": lambda n: {"events": {"e": {"l": [0] * (n // 40)}}},
    "a deep list": lambda n: {"events": json.loads('{"a":' * 58 + json.dumps([0] * (n // 100)) + "}" * 58)},
    "deep fields": lambda n: {"events": {f"e{i}": json.loads('{"a":' * 50 + "1" + "}" * 50) for i in range(n // 400)}},
    "a long name above many fields": lambda n: {"events": [{"name": "k" * n, **{f"f{i}": 0 for i in range(n // 20)}}]},
    "a long text in many factors": lambda n: {
        "outcome": {"principal_factors": [{"factor": f"f{i}", "path": "text"} for i in range(n // 2000)]},
        "text": "word " * n,
    },
    "a blank text in many factors": lambda n: {
        "outcome": {"principal_factors": [{"factor": f"f{i}", "path": "text"} for i in range(n // 40)]},
        "text": " " * n,
    },
    "one reason again and again": lambda n: {"outcome": {"reasons": ["because"] * (n // 12)}},
    "a long reason": lambda n: {"outcome": {"reasons": ["It was so. " * (n // 11)]}},
    "paths into a list by name": lambda n: {
        "events": [{"name": f"s{i}", "x": i} for i in range(n // 80)],
        "outcome": {"principal_factors": [{"path": f"events.s{i}.x"} for i in range(n // 80)]},
    },
    "a path of quotes": lambda n: {"outcome": {"principal_factors": [{"path": '"' + '\\"' * n}]}},
}


@pytest.mark.slow
@pytest.mark.parametrize("make", RECORDS.values(), ids=RECORDS)
def test_drafting_grows_as_the_record_does(make):
    """The phrasebook is included, because every field is looked up in it."""

    def raw(size: int) -> bytes:
        return json.dumps(make(size)).encode()

    assert_linear(lambda record: draft(record, "general", "en", WITHHELD), raw, 12_000)


@pytest.mark.slow
@pytest.mark.parametrize("make", RECORDS.values(), ids=RECORDS)
def test_finding_unused_fields_grows_as_the_record_does(make):
    def look(raw: bytes) -> None:
        redaction_of(Facts(raw), packs()["us_ecoa_fcra"], phrasebook.Phrasebook([WITHHELD]))

    assert_linear(look, lambda size: json.dumps(make(size)).encode(), 10_000)


def test_a_long_name_above_many_fields_is_in_memory_once():
    record = {"events": [{"name": "k" * 100_000, "x": {f"f{n}": n for n in range(2000)}}]}
    assert peak(lambda raw: draft(raw, "general", "en", WITHHELD), json.dumps(record).encode()) < 16 * MIB


def test_unknown_names_are_not_cached_between_records():
    records = [json.dumps({"events": {"e": {f"{n} {'k' * 40_000}": 1}}}).encode() for n in range(30)]
    draft(records[0])

    def work(_: None) -> int:
        return len([draft(raw)["title"] for raw in records])

    assert peak(work, None) < MIB


@pytest.mark.parametrize(
    "record",
    [
        {"outcome": {"reasons": [f"It was too low by {n}." for n in range(MAX_STATEMENTS + 1)]}},
        {"outcome": {"reasons": [f"{n} " + "word " * 700 for n in range(2000)]}},
    ],
    ids=["reasons", "characters"],
)
def test_a_record_with_more_text_than_a_notice_holds_gets_no_draft(record):
    with pytest.raises(TooMuch):
        draft(record)


@DATABASE
def test_a_record_of_more_reasons_than_a_notice_holds_is_a_413_and_no_notice(api):
    reasons = [f"It was too low by {n}." for n in range(MAX_STATEMENTS + 1)]
    done(api.ingest({"decision_id": "large", "outcome": {"reasons": reasons}}))
    answer = send(api, "POST", "decisions/large/notices", {})
    assert answer.status_code == 413
    assert "20,000 statements" in answer.json()["detail"]
    assert not Notice.objects.exists()


@DATABASE
def test_withheld_fields_do_not_count_toward_the_limit(api, organization):
    done(api.ingest({"decision_id": "large", "events": {"series": list(range(MAX_STATEMENTS + 1))}}))
    Phrase.objects.create(organization=organization, language="en", key="events.series", withheld=True)
    assert drafted(api, "large")["content"]["inputs_used"] == []


@DATABASE
def test_a_record_from_before_the_limit_can_be_read_and_no_notice_is_made_of_it(api, monkeypatch):
    record = {"decision_id": "old", "events": {"k" * 20_000: dict.fromkeys(map(str, range(1000)), 0)}}
    with monkeypatch.context() as before:
        before.setattr(field_paths, "MAX_PATH_BYTES", 10**9)
        done(api.ingest(record))
    assert json.loads(api.get("/v1/decisions/old/record").content) == record
    answer = send(api, "POST", "decisions/old/notices", {})
    assert answer.status_code == 413
    assert "16 MiB" in answer.json()["detail"]
    assert api.ingest(record).status_code == 422


# ── paths ──


@pytest.mark.parametrize(
    "path", ['"' + '\\"' * 50, '"' * 51, '""' * 50, "a." * 50, ".", "a..b", 'a"b"', '"a"b', 'a."b']
)
def test_an_invalid_path_resolves_to_nothing(path):
    with pytest.raises(NoSuchField):
        Facts(b'{"a": {"b": 1}}').find(path)


@settings(max_examples=40, deadline=None)
@given(st.text('a".\\0u', min_size=1, max_size=6), st.sampled_from(["", '"', "a.", '"a".']))
def test_resolving_a_path_grows_as_the_path_does(pattern, first):
    def find(path: str) -> None:
        Facts(b'{"a": {"a": 1}}').get(path)

    assert_linear(find, lambda size: first + pattern * (size // len(pattern)), 40_000)


# ── words ──


PROSE = st.text("aZé1 .,!…\"'»(\u00a0_-/@\n\u2028ה\u0301", min_size=1, max_size=6)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(PROSE, st.sampled_from(["", ".", "a", '"']))
def test_reading_prose_grows_as_the_prose_does(pattern, first):
    def read(text: str) -> None:
        sentences.split_sentences(text)
        sentences.clean(text)
        readability.measure({"rights": [text]}, "en")

    assert_linear(read, lambda size: first + pattern * (size // len(pattern)), 20_000)


@pytest.mark.parametrize("word", ["x", "information", "bcd", "a-", "é"])
def test_a_word_of_any_length_is_counted_in_time_linear_in_it(word):
    assert_linear(
        lambda text: readability.measure({"rights": [text]}, "en"), lambda size: word * (size // len(word)), 2**17
    )


def test_a_word_of_64_letters_is_one_word_and_so_is_a_longer_one():
    for length in (64, 65, 1000):
        counted = readability.measure({"rights": ["x" * length]}, "en")
        assert (counted.words, counted.longest) == (1, 1)


# ── letters ──


@pytest.mark.slow
@settings(max_examples=8, deadline=None)
@given(PROSE)
def test_letters_grow_as_their_text_does(pattern):
    def write(text: str) -> None:
        made = letter({"title": text, "main_factors": [{"statement": text, "source": text}], "rights": [text]})
        outline_of(made)
        letters.render_html(made)
        letters.render_text(made)

    assert_linear(write, lambda size: pattern * (size // len(pattern)), 20_000)


@pytest.mark.parametrize(
    "content",
    [
        {"rights": ["a\n" * 5001]},
        {"rights": ["word " * 90_000]},
        {"main_factors": [{"statement": "x" * 64_000, "source": "outcome.action"}]},
        {"main_factors": [{"statement": "決" * 64_000, "source": "outcome.action"}]},
        {"main_factors": [{"statement": "It counted.", "source": f"{'k' * 4000}{n}"} for n in range(30)]},
        {"title": "x" * 64_000},
        {"rights": [("\u202ea\u202c" * 26 + "\n") * 500]},
        {"rights": ["\u2067" * 39 + " " + "a" * 40] * 500},
        {"rights": [("e" + "\u0301" * 20 + " ") * 3000]},
        {"rights": ["αбאअ " * 60] * 200},
    ],
    ids=[
        "lines",
        "words",
        "a word",
        "a word of another script",
        "sources",
        "a title",
        "directions",
        "isolates",
        "marks",
        "scripts",
    ],
)
def test_a_letter_that_is_slow_to_typeset_gets_no_pdf(content):
    with pytest.raises(TooLongForPaper):
        letters.render_pdf(letter(content), "a4")
    assert letters.render_html(letter(content))


@pytest.mark.slow
@pytest.mark.parametrize(
    "passage", ["x" * 2000, "word " * 2000, "a\n" * 500, "Größe déjà vu " * 700, "όχι αρκετό " * 700]
)
def test_a_letter_of_one_to_ten_pages_gets_a_pdf(passage):
    assert letters.render_pdf(letter({"main_factors": [{"statement": passage, "source": "outcome.action"}]}), "a4")


# ── edits ──

LONG = {"decision_id": "long", "outcome": {"action": "denied"}, "text": "y" * 300_000}


def spellings(word: str) -> list[list[str]]:
    groups: list[list[str]] = [[]]
    for character in word:
        groups = [[*before, way] for before in groups for way in (character, f"\\u{ord(character):04x}")]
    return groups


@DATABASE
def test_more_statements_than_a_notice_holds_are_a_413_and_nothing_is_saved(api, notice):
    """One edit sends one list, four edits send four."""
    many = [{"statement": "", "source": ""}] * (MAX_STATEMENTS // 2)
    done(edit(api, notice, main_factors=many))
    answer = edit(api, notice, inputs_used=many)
    assert answer.status_code == 413
    assert "20,000 statements" in answer.json()["detail"]
    assert shown(api, notice)["revision"] == 2


@DATABASE
def test_more_text_than_a_notice_holds_is_a_413(api, notice):
    done(edit(api, notice, title="x" * 1_000_000))
    done(edit(api, notice, deadline_note="x" * 1_000_000))
    assert edit(api, notice, rights=["x" * 1_000_000]).status_code == 413


@DATABASE
def test_one_long_value_cited_by_many_paths_is_a_413(api):
    """`text` has 16 spellings as a quoted key."""
    done(api.ingest(LONG))
    notice = drafted(api, "long")
    ways = [f'"{"".join(letters)}"' for letters in spellings("text")]
    assert len(ways) == 16
    content = [{"statement": "It counted.", "source": way} for way in ways]
    assert edit(api, notice, main_factors=content).status_code == 413
    assert shown(api, notice)["revision"] == 1
    assert done(edit(api, notice, main_factors=content[:4]))["citations"][-1]["resolves"]


@DATABASE
def test_a_page_repeats_no_long_value_for_each_sentence_about_it(api, signed_in):
    done(api.ingest(LONG))
    notice = drafted(api, "long")
    done(edit(api, notice, main_factors=[{"statement": f"It counted {n}.", "source": "text"} for n in range(20)]))
    editor = signed_in(Role.EDITOR)
    for name in ("notices_notice_change", "edit-notice"):
        assert len(editor.get(page(notice, name)).content) < 3 * MIB


def test_the_limit_counts_the_whole_notice():
    item = {"statement": "It counted.", "source": "a"}
    half = [item] * (content_limits.MAX_STATEMENTS // 2)
    content_limits.require_room({"main_factors": half, "inputs_used": half, "human_review_available": True})
    with pytest.raises(TooMuch):
        content_limits.require_room({"main_factors": half, "inputs_used": [*half, item]})
