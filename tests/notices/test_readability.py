"""Counts of a notice's prose, against counts by hand."""

import pytest

from accounts.roles import Role
from notices import presenters
from notices.packs import packs
from notices.readability import measure, without_prescribed
from tests.notices.conftest import drafted, fill_in_names, ingest_sample
from tests.notices.drafts import drafted as content_of
from tests.notices.drafts import sample

CONTENT = {
    "title": "This title is not counted",
    "decision_summary": [{"statement": "The cat sat on the mat.", "source": "outcome.action"}],
    "main_factors": [{"statement": "Your income was low. It was not enough.", "source": "outcome.reasons.0"}],
    "rights": ["You can ask us."],
    "how_to_request_review": "Write to us.",
    "deadline_note": "",
    "framework": "Nor this framework",
}


def test_words_sentences_and_the_longest_are_counted_over_statements_and_texts():
    counted = measure(CONTENT, "de")
    assert (counted.words, counted.sentences, counted.longest) == (6 + 4 + 4 + 4 + 3, 5, 6)
    assert counted.words_per_sentence == 21 / 5
    assert counted.flesch is None


@pytest.mark.parametrize(
    ("text", "words", "syllables"),
    [
        ("The cat sat on the mat.", 6, 6),
        ("The decision was denied.", 4, 7),
        ("The person received a letter.", 5, 8),
        ("Savings: £7,420.", 2, 3),
    ],
)
def test_flesch_is_the_formula_over_one_sentence(text: str, words: int, syllables: int):
    counted = measure({"rights": [text]}, "en")
    assert (counted.words, counted.sentences) == (words, 1)
    assert counted.flesch == pytest.approx(206.835 - 1.015 * words - 84.6 * syllables / words)


def test_short_words_in_short_sentences_are_easier():
    hard = measure(
        {"rights": ["Notwithstanding aforementioned considerations, reconsideration remains available."]}, "en"
    )
    easy = measure({"rights": ["You can ask us to look at it again."]}, "en")
    assert hard.flesch < 0 < 90 < easy.flesch


def test_a_notice_without_words_has_no_readability():
    counted = measure({"rights": ["—"], "title": "A title"}, "en")
    assert presenters.readability(counted) == {
        "words": 0,
        "sentences": 0,
        "words_per_sentence": 0.0,
        "longest": 0,
        "flesch": None,
    }


def test_answers_show_means_to_one_decimal():
    measured = measure({"rights": ["One two three.", "Four five.", "Six seven."]}, "en-GB")
    assert presenters.readability(measured) == {
        "words": 7,
        "sentences": 3,
        "words_per_sentence": 2.3,
        "longest": 3,
        "flesch": pytest.approx(206.835 - 1.015 * 7 / 3 - 84.6 * 8 / 7, abs=0.05),
    }


def test_what_a_law_prescribes_is_left_out_and_nothing_else():
    pack, filled = packs()["us_ecoa_fcra"], {"agency_name_and_address": "Example Agency."}
    content = content_of(sample("synthetic-insurance-04"), pack, placeholders=filled)
    own = without_prescribed({**content, "rights": [*content["rights"], "You can call us."]}, pack, "en")
    assert any("Equal Credit Opportunity Act" in right for right in content["rights"])
    assert own == {**content, "rights": [*pack.text("en").rights, "You can call us."]}


@pytest.mark.django_db
def test_the_answer_and_the_page_have_both_numbers(api, signed_in):
    fill_in_names(api, "us_ecoa_fcra")
    notice = drafted(api, ingest_sample(api, "synthetic-insurance-04"))
    whole = dict(notice["readability"])
    own = whole.pop("without_prescribed")
    assert set(own) == set(whole)
    assert own["words"] < whole["words"]
    assert own["flesch"] > whole["flesch"]
    page = signed_in(Role.AUDITOR).get(f"/admin/notices/notice/{notice['notice_id']}/change/").content.decode()
    assert "Without the texts that are prescribed" in page
    for measured in (whole, own):
        assert f"{measured['sentences']}, {measured['words_per_sentence']} words each" in page
        assert f"{measured['flesch']:.0f} of 100" in page
