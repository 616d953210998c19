# ruff: noqa: RUF001 - real apostrophes, and scripts of either direction
"""Words, numbers, dates and sentences in the languages of notices."""

import re
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notices import localization as package
from notices.localization import catalog, humanise
from notices.localization.sentences import clean, finish_sentence, split_sentences
from tests.cases import each_case

TABLES = {
    path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(Path(package.__file__).parent.glob("*.toml"))
}
# Tables in which languages differ in the number of words.
FREE = ("subjects", "letters")


def shape(table: dict) -> dict:
    """Return the keys of a table and the placeholders of its templates, except the optional {subject}."""
    return {
        key: shape(value) if isinstance(value, dict) else set(re.findall(r"\{(\w+)\}", value)) - {"subject"}
        for key, value in table.items()
    }


def without_free(table: dict) -> dict:
    return {key: value for key, value in table.items() if key not in FREE}


@pytest.mark.parametrize("language", ["de", "fr"])
def test_every_language_says_what_english_says_with_the_same_values(language: str):
    assert shape(without_free(TABLES[language])) == shape(without_free(TABLES["en"]))
    assert set(TABLES[language]["subjects"]) == set(TABLES["en"]["subjects"])


def test_a_region_has_the_words_of_its_language_and_an_unknown_language_none():
    assert catalog("de-AT") == catalog("de")
    assert catalog("en", "en_GB").messages == catalog("en").messages
    with pytest.raises(KeyError):
        catalog("ja")


@each_case(
    ("language", "name", "value", "shown"),
    [
        ("en", "income_usd", 2864, "$2,864"),
        ("de", "income_usd", Decimal("-4380.5"), "-4.380,50\u00a0$"),
        ("fr", "income_cad", Decimal("142.505"), "142,505\u00a0$CA"),
        ("en", "income_jpy", Decimal("1E+3"), "¥1,000"),
        ("de", "income_eur", 10**45, f"{10**45} EUR"),
        ("en", "distance_km", 98400, "98,400 km"),
        ("de", "distance_km", Decimal("1234.56789"), "1.235 km"),
        ("fr", "term_years", Decimal("1.5"), "1,5\u00a0an"),
        ("de", "term_months", 1, "1 Monat"),
        ("fr", "wait_days", 121, "121\u00a0jours"),
        ("en", "systolic_mmhg", 158, "158 mmHg"),
        ("fr", "share_pct", 7, "7 %"),
        ("en", "score", Decimal("1.0"), "1"),
        ("de", "score", Decimal("0.920"), "0,92"),
        ("fr", "score", 9007199254740993, "9007199254740993"),
        ("en", "paid", True, "yes"),
        ("de", "paid", False, "nein"),
        ("fr", "paid", None, "aucune information"),
        ("en", "paid", " \n", "no information"),
        ("en", "day", "2026-11-01", "November 1, 2026"),
        ("de", "day", "2026-11-01T23:59:59-12:00", "1. November 2026"),
        ("fr", "day", "2026-12-01", "1er décembre 2026"),
        ("fr", "day", "2026-12-11", "11 décembre 2026"),
        ("en", "day", "2026-02-30", "2026-02-30"),
    ],
)
def test_values_are_written_as_in_the_language(language: str, name: str, value, shown: str):
    assert catalog(language).field_text(name, value).value == shown


@pytest.mark.parametrize(
    ("locale", "date", "pounds", "dollars"),
    [
        ("en_GB", "30 November 2026", "£7,420", "US$10"),
        ("en_US", "November 30, 2026", "£7,420", "$10"),
        ("en_CA", "November 30, 2026", "£7,420", "US$10"),
    ],
)
def test_a_region_writes_dates_and_money_by_its_own_customs(locale: str, date: str, pounds: str, dollars: str):
    english = catalog("en", locale)
    shown = [english.field_text(*field).value for field in [("x", "2026-11-30"), ("x_gbp", 7420), ("x_usd", 10)]]
    assert shown == [date, pounds, dollars]


@given(st.decimals(allow_nan=False, allow_infinity=False), st.sampled_from(["x", "x_eur", "x_years", "x_km"]))
@example(Decimal("288072485256268295266300500.7368"), "x_eur")
def test_no_number_of_three_decimals_is_rounded_and_none_before_the_third_digit(number: Decimal, name: str):
    shown = catalog("en").field_text(name, number).value
    digits = shown.replace(",", "").strip("€-EURyearskm \u00a0") if "E" not in str(number) else None
    if digits is not None:
        decimals = -min(0, number.as_tuple().exponent)
        rounding = abs(Decimal(digits) - number.copy_abs())
        assert not rounding or decimals > 3
        assert rounding <= (Decimal("0.005") if name == "x_eur" else number.copy_abs() / 100)


@each_case(
    ("name", "words"),
    [("loan_to_value", "loan to value"), ("loanToValue", "loan to value"), ("LOAN_AMOUNT", "loan amount"),
     ("FICO_score", "FICO score"), ("Größe des Hauses", "Größe des Hauses"), ("vehicle.age", "vehicle age"),
     ("Note: ", "note"), ("__", ""), ("שם", "\u2068שם\u2069"), ("a b\n", "a b")],
)  # fmt: skip
def test_names_become_words(name: str, words: str):
    assert humanise(name) == words


def test_a_name_of_a_page_s_length_is_cut():
    assert len(humanise("x" * 5000)) < 150
    assert humanise("ש" * 5000).endswith("…\u2069")


@each_case(
    ("text", "sentence"),
    [
        ("it is so", "It is so."),
        ("it was Example Inc.", "It was Example Inc."),
        ("really?", "Really?"),
        ("one, ", "One."),
        ("\u2068שלום!\u2069", "\u2068שלום\u2069!"),
        ("ßx", "ßx."),
        ("", ""),
    ],
)
def test_a_sentence_begins_and_ends_as_one(text: str, sentence: str):
    assert finish_sentence(text) == sentence


@each_case(
    "sentences",
    [
        ["The repair is not paid.", "The car stays with you."],
        ["Is it?", "It is!", "So… Be it."][:2],
        ["Dr. Smith of Example Inc. saw it on p. 4 of No. 12."],
        ["Die Rate gilt ab dem 3. November 2026.", "Sie beträgt z. B. 5 Euro bzw. mehr."],
        ["C’est le n° 4, cf. art. 22 du RGPD.", "Il vaut 4.5 points."],
        ["Version 1.2.3 of example.com was used."],
        ["He said “No problem.”", "She agreed."],
    ],
)
def test_sentences_are_distinguished_and_abbreviations_are_no_ends(sentences: list[str]):
    assert split_sentences(" ".join(sentences)) == sentences


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_clean_text_is_one_line_that_cannot_reorder_what_is_around_it(text: str):
    line = clean(text)
    assert len(line.splitlines()) <= 1
    inner = line[1:-1] if line.startswith("\u2068") else line
    assert not set(inner) & set("\u2066\u2067\u2068\u2069")
    assert line.startswith("\u2068") == line.endswith("\u2069")
    if set(inner) & set("\u202a\u202b\u202c\u202d\u202e\u200e\u200fא"):
        assert line != inner
