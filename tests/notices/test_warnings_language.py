"""Sentences in another language than the letter are warned about, each by itself."""

import json

import pytest

from decisions import samples
from notices.packs import packs
from notices.warnings.language import findings
from notices.wording.language import is_other_language
from tests.cases import each_case
from tests.notices.drafts import EVERY, LANGUAGES, checked_draft, warned, warnings_of

PROSE = {
    "en": ["Your income is too low for the loan you asked for.", "The claim was sent after the deadline.",
           "We could not verify your employment with the company you named.", "There are too many late payments.",
           "As a self-employed person you have no proof of income.", "I was told to say no."],
    "de": ["Ihr Einkommen ist zu niedrig für den Kredit.", "Der Antrag ging nach der Frist ein.",
           "Wir konnten Ihre Beschäftigung nicht bestätigen.", "Es gibt zu viele Mahnungen.", "Die Miete ist zu hoch."],
    "fr": ["Votre revenu est trop bas pour le prêt demandé.", "La demande est arrivée après le délai.",
           "Nous n\u2019avons pas pu vérifier votre emploi.", "Il y a trop de retards de paiement.",
           "Le loyer est trop élevé."],
    "es": ["Sus ingresos son muy bajos para el préstamo.",
           "La solicitud llegó después de la fecha y no se puede aceptar."],
    "it": ["Il suo reddito non è sufficiente per il prestito.", "La domanda è arrivata dopo la scadenza e non si può."],
    "pt": ["O seu rendimento não é suficiente para o empréstimo.", "A renda é muito alta para o seu salário."],
    "nl": ["Uw inkomen is niet hoog genoeg voor de lening.", "De aanvraag is te laat ingediend, en dat is niet goed."],
    "pl": ["Pana dochód nie jest wystarczający dla tego kredytu.",
           "Wniosek nie jest kompletny i został złożony po terminie."],
    "cy": ["Mae eich cynilion yn fwy na £16,000.", "Bydd yn rhaid i chi dalu'r dreth gyngor yn llawn."],
    "zh": ["您的收入不足以支付贷款。"],
    "ru": ["Ваш доход слишком низкий."],
    "ar": ["دخلك منخفض جدا."],
    "ja": ["収入が足りません。"],
    "uk": ["Ваш дохід занадто низький."],
}  # fmt: skip
NEITHER = [
    "Harbour Data Ltd",
    "R07",
    "reconsideration-78e51061-7311-d8a3-c2ce-6f447ed4d57b",
    "Berlin",
    "Example Scorecard 3.2",
    "denied",
    "SCHUFA Holding AG",
    "2026-11-02",
    "-",
]
ALL = [(language, sentence) for language in PROSE for sentence in PROSE[language]]


@each_case(("language", "sentence"), ALL)
def test_prose_is_known_in_its_own_language_and_in_no_other(language, sentence):
    assert {letter for letter in LANGUAGES if not is_other_language(sentence, letter)} == {language} & set(LANGUAGES)


@each_case("text", NEITHER)
def test_names_codes_and_single_words_belong_to_no_language(text):
    assert not any(is_other_language(text, letter) for letter in LANGUAGES)


@each_case(("pack", "language"), EVERY)
def test_no_text_of_a_pack_is_taken_for_another_language(pack, language):
    text = packs()[pack].text(language)
    texts = [text.title, text.how_to_request_inputs, text.how_to_request_review, *text.rights, *text.labels.values()]
    assert [words for words in texts if is_other_language(words, language)] == []


def test_each_sentence_is_judged_by_itself():
    reasons = [
        "Ihr Einkommen ist zu niedrig für den Kredit. There are too many late payments.",
        "Die Miete ist zu hoch.",
    ]
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": reasons}}
    english = warned("other_language", warnings_of(record))
    assert [warning.where for warning in english] == ["main_factors.0", "main_factors.2"]
    german = warned("other_language", warnings_of(record, language="de"))
    assert [warning.where for warning in german] == ["main_factors.1"]


def test_a_sentence_translated_by_hand_no_longer_warns():
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Die Miete ist zu hoch."]}}
    statements = [{"statement": "The rent is too high.", "source": "outcome.reasons.0"}]
    assert warned("other_language", warnings_of(record, main_factors=statements)) == []


def test_the_names_of_fields_are_no_prose():
    record = {"decision_id": "d", "events": {"check": {"number_of_the_late_payments_in_your_account": 2}}}
    assert warned("other_language", warnings_of(record, language="de")) == []


@each_case("raw", samples.synthetic_records())
def test_a_sample_is_warned_about_only_in_letters_of_another_language(raw):
    spoken = json.loads(raw)["subject"].get("language", "en")[:2]
    for language in LANGUAGES:
        assert bool(list(findings(*checked_draft(raw, language=language)))) is (language != spoken)


@pytest.mark.parametrize("name", ["مطعم المثال", "示例学院", "房屋申請系統", "יגע ומצאת תאמין", "Пример Банк"])
def test_a_name_in_another_script_is_no_prose_and_a_sentence_is(name):
    def found(value: str) -> list[str]:
        record = {"decision_id": "d", "system": {"name": value}}
        return [warning.where for warning in warned("other_language", warnings_of(record))]

    assert found(name) == []
    for sentence in ("您的收入不足以支付贷款。", "Ваш доход слишком низкий для этого кредита", "دخلك منخفض جدا؟"):
        assert found(sentence) == ["role_of_automated_system.0"]


def test_reasons_are_prose_in_any_script():
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Доход слишком низкий"]}}
    assert [warning.where for warning in warned("other_language", warnings_of(record))] == ["main_factors.0"]


def test_an_id_is_in_no_language():
    sentence = "A person looked at the decision 6de4-7le9-4la2-est1-9un0 again."
    assert not is_other_language(sentence, "en")
