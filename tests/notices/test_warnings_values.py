"""Numbers, dates, amounts and names in a sentence are in the cited field, or get a warning."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notices.localization.sentences import one_line
from notices.warnings import values
from notices.wording import vocabulary
from notices.wording.amounts import AmountMention, find_amounts
from notices.wording.contents import Contents
from tests.cases import each_case
from tests.growth import assert_linear
from tests.notices.drafts import LANGUAGES, case, drafted, findings_of, warnings_of

NOT_IN_FIELD = "not_in_field-"


def named(value: Any, sentence: str, language: str = "en", field: str = "ratio", **more: Any) -> list[str]:
    """Return the values that a warning names in a sentence that cites this field."""
    record = {"decision_id": "d", "events": {"check": {field: value}}, **more}
    item = {"statement": sentence, "source": f'events.check."{field}"' if "." in field else f"events.check.{field}"}
    findings = findings_of(
        values, record, "general", language, decision_summary=[], inputs_used=[], main_factors=[item]
    )
    assert all(finding.where == "main_factors.0" for finding in findings)
    return re.findall("“(.*?)”", findings[0].sentence) if findings else []


# ── values in the field ──


@each_case(
    ("value", "sentence", "field"),
    [
        (0.31, "Your ratio was 0.31.", "ratio"),
        (0.31, "Your ratio was 31 percent.", "ratio"),
        (0.31, "Your ratio was 31%.", "ratio"),
        (0.3149, "Your ratio was about 31.5 per cent.", "ratio"),
        (31, "Your ratio was 0.31.", "ratio_percent"),
        (31, "Your ratio was 31 percent.", "ratio_percent"),
        (182_400, "You asked for $182,400.", "amount_usd"),
        (182_400, "You asked for about 182,000 dollars.", "amount_usd"),
        (182_400, "You asked for US$182k.", "amount_usd"),
        (1_200_000, "You asked for 1.2 million euros.", "amount_eur"),
        (2, "There were two late payments.", "late_payments"),
        (125, "There were one hundred and twenty-five late payments.", "late_payments"),
        (24, "You have worked there for 24 months.", "employment_months"),
        (24, "You have worked there for 2 years.", "employment_months"),
        (24, "You have worked there for two years.", "employment_months"),
        (6, "It took 42 days.", "waiting_weeks"),
        (-12, "Your income fell by 12 percent.", "change_percent"),
        ("2026-11-02", "We decided on November 2, 2026.", "day"),
        ("2026-11-02T10:30:00Z", "We decided on 2 Nov. 2026 at 10:30.", "day"),
        ("2026-11-02", "We decided in November 2026.", "day"),
        ("2026-11-02", "We decided on 11/02/2026.", "day"),
        ("2026-11-02", "We decided in 2026.", "day"),
        ("2026-11-02", "We decided in November, as we may.", "day"),
        (612, "Your score is 612 points.", "score"),
        (87, "Your score is 87 percent.", "score"),
        (36, "You worked there for six semesters.", "employment_months"),
        (9, "This was your ninth late payment.", "late_payments"),
        ("The ratio of 43 % is above 40 %.", "Your ratio of 43 percent is above 40 percent.", "text"),
        ("Late by 30 days (R07).", "You paid 30 days late, which is R07.", "text"),
        ("Harbour Data Ltd", "The report came from Harbour Data Ltd.", "agency"),
        ("1.234,50 EUR", "You owe 1,234.50 EUR.", "text"),
        ("It is 1.234,50 EUR.", "You owe 1.234,50 EUR.", "text"),
        (3, "Payments in the last 12 months: 3.", "payments_last_12_months"),
        (0.8, "Your LTV was 80 percent.", "loan_to_value"),
        (7, "Seven of them counted.", "late_payments"),
        (True, "You are self-employed: yes.", "self_employed"),
    ],
)
def test_a_value_may_be_exact_rounded_in_words_or_in_another_unit(value, sentence, field):
    assert named(value, sentence, field=field) == []


@each_case(
    ("language", "value", "sentence", "field"),
    [
        ("de", 0.31, "Ihr Verhältnis war 31 Prozent.", "ratio"),
        ("de", 0.31, "Ihr Verhältnis war 0,31.", "ratio"),
        ("de", 1234.5, "Sie schulden 1.234,50 €.", "debt_eur"),
        ("de", 25, "Es gab fünfundzwanzig Mahnungen.", "mahnungen"),
        ("de", 250_000, "Sie wollten zweihundertfünfzigtausend Euro.", "amount_eur"),
        ("de", 250_000, "Sie wollten 0,25 Mio. Euro.", "amount_eur"),
        ("de", 24, "Sie arbeiten dort seit zwei Jahren.", "employment_months"),
        ("de", "2026-11-02", "Wir haben am 2. November 2026 entschieden.", "day"),
        ("de", "2026-11-02", "Wir haben am 02.11.2026 entschieden.", "day"),
        ("de", "Das Einkommen ist zu niedrig.", "Das Einkommen reicht nicht.", "text"),
        ("fr", 0.31, "Votre taux était de 31 %.", "ratio"),
        ("fr", 0.31, "Votre taux était de 31 pour cent.", "ratio"),
        ("fr", 1234.5, "Vous devez 1 234,50 €.", "debt_eur"),
        ("fr", 1234.5, "Vous devez 1\u202f234,50\u00a0€.", "debt_eur"),
        ("fr", 97, "Il y a quatre-vingt-dix-sept retards.", "retards"),
        ("fr", 71, "Vous avez soixante et onze ans.", "age_years"),
        ("fr", 24, "Vous y travaillez depuis deux ans.", "employment_months"),
        ("fr", "2026-11-01", "Nous avons décidé le 1er novembre 2026.", "day"),
        ("fr", 68_400, "Votre revenu est de 68\u00a0400\u00a0$CA.", "income_cad"),
    ],
)
def test_a_value_may_be_in_these_forms_in_every_language(language, value, sentence, field):
    assert named(value, sentence, language, field) == []


# ── values not in the field ──


@each_case(
    ("value", "sentence", "field", "expected"),
    [
        (0.31, "Your ratio is 90 percent, and our limit is 36 percent.", "ratio", ["90 percent", "36 percent"]),
        (0.31, "Your ratio was 0.13.", "ratio", ["0.13"]),
        (0.31, "Your ratio was 3.1 percent.", "ratio", ["3.1 percent"]),
        (0.31, "Your ratio was 31.", "ratio", ["31"]),
        (0.31, "You had 0 late payments.", "ratio", ["0"]),
        (0.469, "Your ratio was 46 percent.", "ratio", ["46 percent"]),
        (1234, "You owe 1.234 dollars.", "debt_usd", ["1.234 dollars"]),
        (1.234, "You owe 1,234 dollars.", "debt_usd", ["1,234 dollars"]),
        (500, "You owe 500 EUR.", "debt_usd", ["500 EUR"]),
        (500, "You owe €500.", "debt_usd", ["€500"]),
        (31_000, "You earn 31,000 pounds.", "income_eur", ["31,000 pounds"]),
        (612, "Your score is 612 percent.", "score", ["612 percent"]),
        (612, "Your score is 612 EUR.", "credit_score", ["612 EUR"]),
        (36, "You worked there for 36 decades.", "employment_months", ["36 decades"]),
        (3, "This was your ninth late payment.", "late_payments", ["ninth"]),
        ("2026-11-02", "We decided in May.", "day", ["in May"]),
        ("9.999,99 EUR", "You owe 9.999,99 USD.", "text", ["9.999,99 USD"]),
        ("2 500 EUR", "You owe 2500 CHF.", "text", ["2500 CHF"]),
        (24, "You have worked there for 24 years.", "employment_months", ["24 years"]),
        (24, "You have worked there for three years.", "employment_months", ["three years"]),
        (182_400, "You asked for about two hundred thousand dollars.", "amount_usd", ["two hundred thousand dollars"]),
        (2, "There were twenty-two late payments.", "late_payments", ["twenty-two"]),
        ("2026-11-02", "We decided on November 3, 2026.", "day", ["November 3, 2026"]),
        ("2026-11-02", "We decided on 2026-11-20.", "day", ["2026-11-20"]),
        ("2026-11-02T10:30:00Z", "We decided at 11:30.", "day", ["11:30"]),
        ("Income too low", "Your income is too low under rule R9.", "text", ["R9"]),
        (610, "The score came from Equifax.", "score", ["Equifax"]),
        (610, "Your FICO was low.", "score", ["FICO"]),
        (True, "You paid late 4 times.", "late", ["4"]),
        ("2026-11-02", "You paid late 11 times.", "day", ["11"]),
        ("2026-11-02T10:30:00Z", "You paid late 10 times.", "day", ["10"]),
        (None, "You paid late 4 times.", "late", ["4"]),
        (0.31, "Your ratio\u200b was 9\u2060 0 percent.", "ratio", ["90 percent"]),
        (-12, "Your income changed by -21 percent.", "change_percent", ["21 percent"]),
    ],
)
def test_a_value_not_in_the_field_is_named(value, sentence, field, expected):
    if "\u2060" in sentence:  # an invisible character splits no number
        sentence = sentence.replace(" 0", "0")
    assert named(value, sentence, field=field) == expected


@each_case(
    ("language", "value", "sentence", "expected"),
    [
        ("de", 0.31, "Ihr Verhältnis ist 90 Prozent.", ["90 Prozent"]),
        ("de", 2, "Es gab zweiundzwanzig Mahnungen.", ["zweiundzwanzig"]),
        ("de", 3, "Sie zahlten zum neunten Mal zu spät.", ["neunten"]),
        ("de", "2026-11-02", "Wir haben im März entschieden.", ["im März"]),
        ("fr", 3, "C'est votre neuvième retard.", ["neuvième"]),
        ("fr", "2026-11-02", "Nous avons décidé en mars.", ["en mars"]),
        ("de", 1.234, "Sie schulden 1.235 Euro.", ["1.235 Euro"]),
        ("de", "2026-11-02", "Wir haben am 3. Dezember 2026 entschieden.", ["3. Dezember 2026"]),
        ("de", 610, "Die SCHUFA gab uns den Wert.", ["SCHUFA"]),
        ("fr", 0.31, "Votre taux est de quatre-vingt-dix pour cent.", ["quatre-vingt-dix%"]),
        ("fr", "2026-11-02", "Nous avons décidé le 3 décembre 2026.", ["3 décembre 2026"]),
        ("fr", 610, "Le score venait de Equifax.", ["Equifax"]),
    ],
)
def test_a_value_not_in_the_field_is_named_in_every_language(language, value, sentence, expected):
    assert [part.replace(" %", "%") for part in named(value, sentence, language)] == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_firm_that_the_record_names_elsewhere_is_not_in_this_field(language):
    other = {"outcome": {"agency": {"name": "Harbour Data Ltd"}}}
    sentence = {
        "en": "Harbour Data Ltd gave 610.",
        "de": "Harbour Data Ltd gab 610.",
        "fr": "Harbour Data Ltd a dit 610.",
    }
    assert named(610, sentence[language], language, "score", **other) == ["Harbour Data Ltd"]


def test_a_label_may_have_numbers_where_the_field_s_own_name_has_them():
    field = "payments_more_than_90_days_late"
    factor = {"factor": "Payments more than 90 days late", "path": f"events.check.{field}"}
    more = {"outcome": {"principal_factors": [factor]}, "field": field}
    assert named(2, "Payments more than 90 days late: 2.", **more) == []
    assert named(2, "Payments more than 60 days late: 2.", **more) == ["60 days"]


@each_case(
    ("name", "sentence", "expected"),
    [
        ("Debt takes 90 percent of income, our limit is 36 percent", "", ["90 percent", "36 percent"]),
        ("90", "Your ratio of payments is 90 percent.", ["90 percent"]),
        ("Paid late on 3 May 2026", "", ["3 May 2026"]),
        ("ninety late payments", "", ["ninety"]),
        ("Other lenders such as Wells Fargo complained", "", ["Wells", "Fargo"]),
        ("Ratio of 31 percent", "", []),
        ("V14 (DTI) ratio", "", []),
        ("Debt To Income", "", []),
    ],
)
@each_case("key", ["factor", "name"])
def test_what_a_factor_is_called_proves_nothing_of_the_field_that_it_is_about(key, name, sentence, expected):
    more = {"outcome": {"principal_factors": [{key: name, "path": "events.check.dti"}]}}
    assert named(0.31, sentence or f"{name}: 31%.", field="dti", **more) == expected


@pytest.mark.parametrize("field", ["apr_1", "mar_2", "rate_dec_3"])
def test_figures_in_the_name_of_a_field_are_no_day(field):
    record = {"decision_id": "d", "outcome": {"action": "denied"}, "events": {"a": {field: 0.5}}}
    assert not [warning.sentence for warning in warnings_of(record) if warning.id.startswith(NOT_IN_FIELD)]


def test_a_code_proves_no_number_before_a_word_that_begins_as_it_ends():
    record = {"decision_id": "d", "events": {"check": {"code": "1A"}}}
    item = {"statement": "You had 1 account.", "source": "events.check.code"}
    (finding,) = findings_of(values, record, decision_summary=[], inputs_used=[], main_factors=[item])
    assert "“1” is not in the field" in finding.sentence


def test_many_values_are_named_shortly():
    sentence = " ".join(f"{number}" for number in range(101, 140))
    warnings = warnings_of({"decision_id": "d", "x": {"y": 5}}, main_factors=[{"statement": sentence, "source": "x.y"}])
    assert any("“105” and 34 more are not in the field" in warning.sentence for warning in warnings)


@each_case(
    ("value", "sentence", "expected"),
    [
        (0.31, "Your ratio was 36…", ["36"]),
        (0.31, "Your debt is double your income.", ["double"]),
        (0.31, "You paid late twice, and again three times.", ["twice", "three"]),
        (0.31, "It is half of what you earn.", ["half"]),
        (0.31, "It is two-thirds of what you earn.", ["two-thirds"]),
        (5, "The change was minus 5.", ["5"]),
        (5, "The change was minus five percent.", ["five percent"]),
        (7, "There were a dozen late payments.", ["a dozen"]),
        (0.31, "Your ratio was \uff13\uff16\uff05.", ["36%"]),
        (0.31, "Your ratio was \u0663\u0666 percent.", ["36 percent"]),
        (0.31, "Your ratio was \u0969\u096c percent.", ["36 percent"]),
        (0.31, "Your ratio was 三十六 percent.", ["三十六"]),
        (0.31, "Your ratio was ninetyfive percent.", ["ninetyfive percent"]),
        (0.31, "You came \u2467th, by rule \u216b.", ["8th", "12"]),
        *((31, f"Your ratio was 3{hidden}6.", ["36"]) for hidden in "\u00ad\u034f\u200b\u2060\u2063\u180e\ufe0f"),
        *((31, f"Your ratio was 3{hidden}6.", ["36"]) for hidden in "\u0336\x07"),
        ("Other Bank", "Example Bank declined your card.", ["Example Bank"]),
        ("Your bank declined it", "Equifax reported it.", ["Equifax"]),
    ],
)  # fmt: skip
def test_no_other_way_to_write_a_number_or_name_hides_it(value, sentence, expected):
    assert named(value, sentence) == expected


@each_case(
    ("language", "value", "sentence", "expected"),
    [
        ("de", 5, "Sie haben zweimal gemahnt, doppelt so viel wie im Vorjahr.", ["doppelt", "zweimal"]),
        ("de", 5, "Das ist die Hälfte, zwei Drittel oder ein Dutzend.", ["Hälfte", "zwei Drittel", "ein Dutzend"]),
        ("de", "Andere AG", "Die Beispiel Versicherung AG hat abgelehnt.", ["Beispiel Versicherung AG"]),
        ("de", "Akte", "Frau Muster hat abgelehnt.", ["Muster"]),
        ("de", "Akte", "Creditreform nannte einen Wert.", ["Creditreform"]),
        ("fr", 5, "C'est la moitié, ou une douzaine.", ["moitié", "une douzaine"]),
        ("fr", 7, "Le changement est de moins 7.", ["7"]),
        ("fr", "Autre Banque", "Exemple Banque a refusé.", ["Exemple Banque"]),
    ],
)
def test_no_spelling_in_another_language_hides_a_value(language, value, sentence, expected):
    assert named(value, sentence, language) == expected


@each_case(
    ("language", "value", "sentence", "field"),
    [
        ("en", 0.67, "It is two thirds of what you earn.", "ratio"),
        ("en", 0.5, "It is half of what you earn.", "ratio"),
        ("en", 30, "You worked there for two and a half years.", "employment_months"),
        ("en", 6, "It took half a year.", "waiting_months"),
        ("en", 24, "There were two dozen late payments.", "late_payments"),
        ("en", -5, "The change was minus five.", "change"),
        ("en", 36, "Your ratio was \u0663\u0666.", "ratio"),
        ("en", 85, "The home has 85 m².", "home_m2"),
        ("en", "Example Bank", "Example Bank declined your card.", "agency"),
        ("de", 2, "Sie haben zweimal gemahnt.", "mahnungen"),
        ("de", "Das Einkommen reicht nicht.", "Ihr Einkommen reicht für die Raten nicht aus.", "text"),
        ("de", "Beispiel AG", "Die Beispiel AG hat abgelehnt.", "agency"),
        ("fr", 5, "Il y a au moins 5 retards.", "retards"),
        ("fr", 12, "Il y a une douzaine de retards.", "retards"),
    ],
)
def test_a_value_of_the_field_may_be_in_these_spellings_too(language, value, sentence, field):
    assert named(value, sentence, language, field) == []


# ── drafts ──


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", {0: "zero", 17: "seventeen", 21: "twenty-one", 300: "three hundred", 999: "nine hundred and ninety-nine",
                1001: "one thousand and one", 45_600: "forty-five thousand six hundred"}),
        ("de", {0: "null", 17: "siebzehn", 21: "einundzwanzig", 300: "dreihundert", 999: "neunhundertneunundneunzig",
                1001: "tausendeins", 45_600: "fünfundvierzigtausendsechshundert"}),
        ("fr", {0: "zéro", 17: "dix-sept", 21: "vingt et un", 71: "soixante et onze", 80: "quatre-vingts",
                99: "quatre-vingt-dix-neuf", 300: "trois cents", 999: "neuf cent quatre-vingt-dix-neuf",
                45_600: "quarante-cinq mille six cents"}),
    ],
)  # fmt: skip
def test_numbers_in_words_are_read(language, words):
    for number, spelled in words.items():
        (amount,) = find_amounts(f"x {spelled} y", [vocabulary(language)], ".")
        assert isinstance(amount, AmountMention)
        assert (amount.amounts[0].number, amount.text) == (number, spelled)


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "One of the reasons is a debt."),
        ("de", "Eine der Angaben fehlt."),
        ("fr", "Un des motifs est une dette."),
    ],
)
def test_articles_are_no_numbers(language, sentence):
    assert list(find_amounts(sentence, [vocabulary(language)], ".")) == []


def test_a_long_text_that_many_sentences_cite_is_read_once(monkeypatch):
    """The work grows with the record and the letter, not with their product."""
    read: list[str] = []
    reading = Contents.add_text
    monkeypatch.setattr(Contents, "add_text", lambda own, text, known: (read.append(text), reading(own, text, known)))
    text = "word 1,5 " * 4_000
    items = [{"statement": f"You have {n} cars.", "source": "x.text"} for n in range(700, 800)]
    assert len(warnings_of({"decision_id": "d", "x": {"text": text}}, main_factors=items)) >= 100
    assert read.count(text) == 1
    assert len(read) <= 4  # includes the names of the field


PROSE = st.text("aZé1 ,.!…%€\"'»(\u00a0_-/:\nה", min_size=1, max_size=5)
WORDS = st.sampled_from(
    ["one ", "thousand ", "fünfund", "quatre-", "USD", "1 000 ", "2026-", "Bank ", "No. 1 ", "per "]
)


@settings(max_examples=9, deadline=None)
@given(st.sampled_from(LANGUAGES), st.one_of(PROSE, WORDS))
def test_checking_values_grows_as_the_sentence_does(language, pattern):
    names = [{"name": f"Bank {number}"} for number in range(100)]
    record = {"decision_id": "d", "outcome": {"action": "denied"}, "x": {"text": pattern, "banks": names}}

    def read(text: str) -> None:
        warnings_of(record, language=language, main_factors=[{"statement": text, "source": "x.text"}])

    assert_linear(read, lambda size: pattern * (size // len(pattern)), 6_000)


def test_a_long_field_is_looked_through_once_however_many_sentences_cite_it(monkeypatch):
    read = []
    monkeypatch.setattr(values, "one_line", lambda text: read.append(len(text)) or one_line(text))
    record = {"decision_id": "d", "events": {"check": {"note": "He said no. " * 400}}}
    items = [{"statement": f"You have {n} cars.", "source": "events.check.note"} for n in range(50)]
    findings = values.findings(case(record), {**drafted(record), "main_factors": items})
    assert len(list(findings)) == len(items)
    assert len(read) == 1
