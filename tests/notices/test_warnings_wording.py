"""Markup, unfilled templates and endless sentences are warned about. Ordinary sentences are not."""

import pytest

from tests.cases import each_case
from tests.growth import assert_linear
from tests.notices.drafts import drafted, statement_texts, warned, warnings_of


def kinds(value: str, **outcome: object) -> set[str]:
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": [value], **outcome}}
    return {row.id.rpartition("-")[0] for row in warnings_of(record) if row.where.startswith("main_factors.")}


@each_case(
    "value",
    [
        "<p>Your <strong>deposit</strong> is missing.</p>", "Your income<br/>is too low.", "Income &amp; rent differ.",
        "Your debt is &gt; your income.", "See [our terms](https://terms.example).", "Your **income** is too low.",
        "Dear {{name}}, your income is too low.", "{organization} found your income too low.", "Income of ${amount}.",
        "{% if late %}Late payments.{% endif %}", "Income <%= amount %>.", "Your income is %(income)s.",
        'Your <a href="https://x.example">income</a> is too low.', "<P>INCOME TOO LOW</P>",
    ],
)  # fmt: skip
def test_text_for_programs_warns(value):
    assert "markup" in kinds(value)


@each_case(
    "value",
    [
        "Your debt-to-income ratio is 0.41 > 0.36.", "Income < 3 x rent.", "R&D costs are no income.",
        "Your income (3,000) is too low.", "A * marks what is missing: income.", "Income [1] and debt (2) differ.",
        "The rent is 5 % of <your> income.", "Your score 5**2 is odd income.", "Income of $300 a month.",
    ],
)  # fmt: skip
def test_text_that_only_resembles_markup_does_not_warn(value):
    assert "markup" not in kinds(value)


def test_reasons_are_looked_through_for_markup():
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Dear {{name}}"]}}
    (warning,) = warned("markup", warnings_of(record))
    assert warning.where == "main_factors.0"
    assert "{{name}}" in warning.sentence


def words(number: int) -> str:
    return "Income " + "and rent " * ((number - 2) // 2) + "late " * (number % 2) + "differ."


def test_a_sentence_of_more_than_forty_words_is_warned_about_with_their_number():
    assert "long_sentence" not in kinds(words(40))
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": [words(41)]}}
    (warning,) = warned("long_sentence", warnings_of(record))
    assert warning.where == "main_factors.0"
    assert "41 words" in warning.sentence


def test_many_short_sentences_are_no_long_one():
    assert "long_sentence" not in kinds("Your income is too low. " * 40)


def test_what_a_person_wrote_in_an_application_may_be_long():
    record = {"decision_id": "d", "events": {"form": {"letter": words(90)}}, "outcome": {"action": "denied"}}
    assert warned("long_sentence", warnings_of(record)) == []


@each_case("pattern", ["<", "<a ", "{", "{{", "[x](", "**a", "&a", "%(", "<a href=", "${", "a "])
def test_looking_for_markup_grows_as_the_sentence_does(pattern):
    def read(text: str) -> None:
        statements = [{"statement": text, "source": "outcome.action"}]
        warnings_of({"decision_id": "d", "outcome": {"action": "denied"}}, main_factors=statements)

    assert_linear(read, lambda size: pattern * (size // len(pattern)), 5_000)


@pytest.mark.parametrize("sentence", ["收入低於租金的三倍。", "دخلك منخفض جدا؟", "आपकी आय कम है।", "足りません\uff01"])
def test_a_sentence_that_ends_as_its_script_does_gets_no_second_end(sentence):
    (printed,) = statement_texts(drafted({"decision_id": "d", "outcome": {"reasons": [sentence]}}), "main_factors")
    assert printed.strip("\u2068\u2069").endswith(sentence[-1])
    assert "." not in printed
