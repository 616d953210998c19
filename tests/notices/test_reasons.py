"""Reasons need words: empty ones count as missing, and ones that the law rejects are warned about."""

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from notices import checklist
from notices.models import Phrase
from notices.packs import packs
from notices.phrasebook_csv import SHIPPED, read_table
from notices.wording.reasons import says_nothing, telling_words
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, fill_in_names, refused
from tests.notices.drafts import EVERY, LANGUAGES, case, warnings_of
from tests.notices.drafts import drafted as content_of


class Words:
    """Revision with these words."""

    def __init__(self, content: dict) -> None:
        self.content, self.cited, self.not_applicable = content, {}, {}


def result(reason: object, pack: str = "us_ecoa_fcra", element: str = "specific_reasons", **outcome: object) -> str:
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": [reason], **outcome}}
    elements = checklist.check(case(record, pack), Words(content_of(record, pack)))
    return next(checked.result for checked in elements if checked.id == element)


def kinds(sentence: str, pack: str = "us_ecoa_fcra", language: str = "en") -> set[str]:
    """Return the kinds of warnings about a reason in the record's own words."""
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": [{"text": sentence}]}}
    statements = [{"statement": sentence, "source": "outcome.reasons.0.text"}]
    warnings = warnings_of(record, pack, language, main_factors=statements)
    return {warning.id.rpartition("-")[0] for warning in warnings if warning.where == "main_factors.0"}


# ── empty reasons ──

EMPTY = {
    "en": ["R07.", "A14, B2 and C-3.", "NULL", "n/a", "N/A.", "None.", "-", "…", "Unknown.",
           "Other.",
           "Too low.", "Not high enough.", "Insufficient.", "Below the minimum.", "Above threshold.", "Not met.",
           "See policy.", "Please refer to our guidelines.", "As per policy document 4.2.", "See attached letter.",
           "Your application was denied.", "Declined by the automated system.", "Not eligible.", "You do not qualify.",
           "Decision based on our review.", "Other reasons.", "Placeholder.", "Section 4.2(b).", "Factor 3: 0.31.",
           "R07 \u2013 this counted against you.", "12", "DTI.",
           "DTI \u2013 this counted against you.", "Velocity_rule_7 triggered.",
           "STRUCT-5K.",
           "Velocity_rule_7.", "Rule velocity_7, R-9.", "XQZ 96 > 95.",
           "Test.", "string", "Foo.", "REASON_TEXT", "Reason text.", "Insert reason here.", "Sample reason.",
           "Internal.",
           "Reason for decision goes here.", "Lorem ipsum dolor sit amet.", "No reason given.", "None given.",
           "Not stated.", "Ditto.", "Same as above.", "Internal reasons.", "Confidential.", "We cannot disclose this.",
           "Please call us.", "The computer said no.", "This decision is final.", "Various reasons apply.",
           "Legal reasons.", "For business or regulatory reasons.", "Compliance.", "Ratio.", "Credit.", "Account.",
           "Code 42 applied.", "Management decision.", "Unfortunately no."],
    "de": ["R07.", "k. A.", "Unbekannt.", "Sonstiges.", "Zu niedrig.", "Nicht ausreichend.",
           "Schwelle nicht erreicht.", "Siehe Richtlinie.",
           "Gemäß unserer Vorgaben.", "Ihr Antrag wurde abgelehnt.", "Vom System abgelehnt.", "Wert zu hoch.",
           "Aus rechtlichen Gründen.", "Aus internen Gründen.", "Leider nicht möglich.", "Testgrund.", "Vertraulich.",
           "Nach Prüfung aller Unterlagen.", "Nicht angegeben.", "Die Entscheidung ist endgültig.", "Kredit."],
    "fr": ["R07.", "Néant.", "Inconnu.", "Autre.", "Trop bas.", "Insuffisant.",
           "Seuil non atteint.",
           "Voir la politique.", "Selon nos directives.", "Votre demande a été refusée.", "Refusé par le système.",
           "Non précisé.", "Décision du comité.", "Raisons internes.", "Pour des raisons juridiques.", "Idem.",
           "Motif non communiqué.", "Texte du motif.", "Malheureusement impossible.", "Compte."],
}  # fmt: skip
TELLING = {
    "en": ["Income too low.", "Your income is not high enough.", "Too many recent inquiries.", "Collateral.",
           "Bankruptcy.",
           "Debt-to-income ratio.", "The claim exceeds the policy limit.", "Unable to verify employment.",
           "INCOME TOO LOW",
           "BANKRUPTCY", "income_insufficient", "Incomplete application.", "The vehicle is too old.", "No credit file.",
           "Late payments.", "A BMI of 34.2 is below 35.", "DTI too high", "LTV 96 > 95", "No ID.",
           "DTI=0.41 against 0.36", "A 24-month history is too short.",
           "Bankruptcy \u2013 this counted against you.",
           "Insufficient income", "No verifiable employment", "No credit", "Test failed", "Internal transfer",
           "Account closed", "Account not disclosed", "Legal proceedings", "Business closed", "Debt ratio",
           "Missed calls"],
    "de": ["Einkommen zu niedrig.", "Zu viele Mahnungen.", "Sicherheiten reichen nicht.", "Insolvenz.",
           "Das Fahrzeug ist zu alt.", "Arbeitsverhältnis nicht nachgewiesen.", "MPU fehlt.",
           "Zu kurze Beschäftigung", "Kein Konto", "Unterlagen fehlen", "Kredit gekündigt"],
    "fr": ["Revenu trop bas.", "Trop de retards.", "Garantie insuffisante.", "Faillite.", "Emploi non vérifié.",
           "Pas de CDI.", "Revenus insuffisants", "Compte clôturé", "Pas de compte"],
    "other": ["收入过低", "收入低於3倍", "Ingresos insuficientes.", "Доход слишком низкий.", "الدخل منخفض"],
}  # fmt: skip


@each_case("sentence", [text for sentences in EMPTY.values() for text in sentences])
def test_a_code_without_words_a_comparison_of_nothing_and_a_reference_give_no_reason(sentence):
    assert telling_words(sentence) == []


@each_case("sentence", [text for sentences in TELLING.values() for text in sentences])
def test_whatever_names_a_thing_is_a_reason(sentence):
    assert telling_words(sentence)


@each_case(
    "reason",
    ["R07", {"code": "R07"}, {"code": "R07", "text": "NULL"}, "n/a", "Too low", "See policy.", {"text": "None"}],
)
def test_a_reason_that_says_nothing_counts_as_missing_and_blocks(reason):
    assert result(reason) == "missing"


@pytest.mark.parametrize("pack", ["us_health_denial", "general", "gdpr_22", "uk_gdpr_22c", "us_ca_admt"])
def test_an_empty_reason_blocks_in_every_pack_that_needs_reasons(pack):
    element = next(part.id for part in packs()[pack].elements if part.where == "main_factors" and part.check == "cited")
    assert result("R07", pack, element) == "missing"
    assert result("Your income is too low.", pack, element) in ("present", "not_applicable")


def test_one_reason_in_words_is_enough_and_the_empty_one_beside_it_is_warned_about():
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Income too low.", "see policy"]}}
    (warning,) = warnings_of(record, "us_ecoa_fcra")
    assert (warning.id.rpartition("-")[0], warning.where) == ("no_reason", "main_factors.1")
    assert result("Income too low.") == "present"


@each_case("value", ["NULL", "null", "n/a", "N.A.", "NaN", "-", "\u2013", "tbd", "undefined", "???", "xxx", " "])
def test_what_a_program_writes_for_nothing_is_nothing_wherever_the_law_asks(value):
    assert says_nothing(value)
    plan = {"plan_provision": value}
    record = {"decision_id": "d", "subject": {"plan_type": "employer"}, "outcome": {"action": "denied", **plan}}
    statements = [{"statement": "The provision of your plan: section four.", "source": "outcome.plan_provision"}]
    words = Words({**content_of(record, "us_health_denial"), "main_factors": statements})
    elements = checklist.check(case(record, "us_health_denial"), words)
    assert next(element.result for element in elements if element.id == "plan_provision") == "missing"


@each_case("value", ["none", "no", "nothing owed", "Nana", "x-ray", 0, False, None])
def test_a_bare_answer_is_no_reason(value):
    assert not says_nothing(value)


# ── reasons that the law rejects ──

SCORE_ONLY = {
    "en": ["Your credit score was too low.", "Insufficient score.", "You failed to achieve a qualifying score.",
           "FICO score of 580 below 620.", "Your score did not reach the required number of points.",
           "Score below cutoff.", "The applicant's risk score exceeded our threshold.", "Poor credit rating.",
           "Not enough points on our internal scorecard.", "Your application was not ranked high enough.",
           "The model's score was insufficient.", "Credit scoring result unsatisfactory.",
           "Your application did not reach the number of points that we need.", "Risk band F.",
           "You needed 480 points and got 412.", "Below the pass mark.", "Fit score.", "Feature 17.",
           "Model output below threshold.", "Variable 12 too high.", "Segment 4.", "High risk.", "Risk category E.",
           "Probability of default too high.", "Prediction 0.31.", "Classification: high risk."],
    "de": ["Ihr Score ist zu niedrig.", "Der erforderliche Punktwert wurde nicht erreicht.",
           "Bonitätsscore unzureichend.",
           "Zu wenige Punkte im internen Scoring.", "Das Rating ist zu schlecht.", "Risikoklasse 7.",
           "Sie haben weniger Punkte erreicht, als wir brauchen.", "Merkmal 17.", "Passungswert.",
           "Modellausgabe unter der Schwelle.", "Hohes Risiko.", "Eignungswert zu niedrig."],
    "fr": ["Votre score est trop bas.", "Le pointage de crédit requis n'est pas atteint.", "Score insuffisant.",
           "La note obtenue est trop faible.", "Classe de risque F.",
           "Vous n'avez pas le nombre de points qu'il faut.", "Variable 17.", "Score d'adéquation.",
           "Sortie du modèle sous le seuil.", "Niveau de risque élevé."],
}  # fmt: skip
INTERNAL = {
    "en": ["Internal policy.", "You did not meet our internal standards.", "Does not satisfy our lending criteria.",
           "Outside our credit policy.", "Your application falls outside the bank's underwriting guidelines.",
           "We do not extend credit under our current requirements.", "Inconsistent with company standards.",
           "Does not fit our risk appetite.", "Minimum credit requirements not met.",
           "Your profile does not match our product criteria.", "Denied per company policy.",
           "See medical policy DME-12.", "Clinical guideline 12 applies.", "Refer to the plan document."],
    "de": ["Interne Richtlinien.", "Sie erfüllen unsere Kreditkriterien nicht.",
           "Entspricht nicht unseren Anforderungen.",
           "Aufgrund unserer Geschäftspolitik.", "Außerhalb der geltenden Vergaberichtlinien.",
           "Siehe medizinische Richtlinie DME-12."],
    "fr": ["Politique interne.", "Vous ne répondez pas à nos critères de crédit.", "Hors des normes de la banque.",
           "Non conforme à nos exigences en vigueur.", "Voir la politique médicale DME-12.", "Critères non remplis."],
}  # fmt: skip
CONCLUSION = {
    "en": ["Not medically necessary.", "The treatment is not medically necessary.", "Insufficient documentation.",
           "You are not entitled to this benefit.", "The service is not covered by your plan.",
           "Medical necessity not established.", "Your creditworthiness is insufficient."],
    "de": ["Nicht medizinisch notwendig.", "Die Voraussetzungen sind nicht erfüllt.", "Unterlagen unvollständig.",
           "Es besteht kein Anspruch auf die Leistung.", "Mangelnde Bonität."],
    "fr": ["Pas médicalement nécessaire.", "Les conditions ne sont pas remplies.", "Justificatifs insuffisants.",
           "Vous n'avez pas droit à cette prestation.", "Solvabilité insuffisante."],
}  # fmt: skip
REAL = {
    "en": ["Your score is low because of three late payments.", "Your income does not meet our minimum requirement.",
           "The building does not meet the safety standards of the city.", "Length of employment.", "No credit file.",
           "The test score for welding was 40 of 100.", "Our policy does not cover water damage from outside.",
           "Your debt payments exceed our guideline of 36 percent of income.",
           "The operation is not medically necessary because physiotherapy was not tried.",
           "Documentation of your income is missing.", "The plan does not cover cosmetic surgery.",
           "Vehicles older than ten years are not covered.", "DTI too high: 52 percent against 43 percent.",
           "Risk of flooding at the property.", "Medical records missing.", "Class size full.", "Two late payments.",
           "The model of car is not insured.", "Fit of the skills: no Java."],
    "de": ["Ihr Einkommen entspricht nicht unseren Anforderungen.", "Der Score ist wegen zweier Mahnungen niedrig.",
           "Unterlagen zum Einkommen fehlen.", "Kein Anspruch, weil der Wohnsitz im Ausland liegt.",
           "Schuldenquote zu hoch: 52 Prozent statt 43 Prozent.", "Ausgaben zu hoch."],
    "fr": ["Votre revenu ne répond pas à nos critères.", "Le score est bas en raison de retards de paiement.",
           "Justificatifs de revenus manquants.", "Le vol n'est pas couvert sans effraction.",
           "Taux d'endettement trop élevé : 52 % contre 43 %."],
}  # fmt: skip


def _each(sentences: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, sentence) for language in sentences for sentence in sentences[language]]


@each_case(("language", "sentence"), _each(SCORE_ONLY))
def test_a_score_alone_is_warned_about_in_whatever_words(language, sentence):
    assert "score_only" in kinds(sentence, "us_ecoa_fcra" if language == "en" else "gdpr_22", language)


@each_case(("language", "sentence"), _each(INTERNAL))
def test_internal_standards_alone_are_warned_about_in_whatever_words(language, sentence):
    assert "internal_standard" in kinds(sentence, "us_ecoa_fcra" if language == "en" else "gdpr_22", language)


@each_case(("language", "sentence"), _each(CONCLUSION))
def test_a_conclusion_alone_is_warned_about_in_whatever_words(language, sentence):
    assert "conclusion_only" in kinds(sentence, "us_health_denial" if language == "en" else "gdpr_22", language)


@each_case(("language", "sentence"), _each(REAL))
def test_a_reason_beside_a_score_or_a_standard_is_one(language, sentence):
    assert kinds(sentence, "us_ecoa_fcra" if language == "en" else "gdpr_22", language) == set()


SILENT = {
    "en": ["Our risk appetite does not allow this.", "The model returned a high risk result.",
           "Based on information in your file.", "For commercial reasons.", "This is a business decision.",
           "You are a high-risk customer.", "Our current policy does not permit it.",
           "Unfortunately, we cannot proceed.",
           "After careful consideration.", "We cannot offer this at this time.",
           "The algorithm gave a poor evaluation.",
           "Our assessment was negative.", "The result of our assessment was unfavorable."],
    "de": ["Nach unseren internen Richtlinien ist ein Abschluss nicht möglich.",
           "Unsere internen Vorgaben lassen das nicht zu.", "Aus geschäftspolitischen Gründen.",
           "Ihre Bonität reicht nicht aus.", "Aus internen Gründen.", "Unser Risikoappetit erlaubt das derzeit nicht.",
           "Das Modell hat ein hohes Risiko ergeben.", "Aufgrund der Informationen in Ihrer Akte.",
           "Leider können wir Ihnen kein Angebot machen.", "Unsere Vorgaben gestatten keinen Vertragsabschluss."],
    "fr": ["Notre politique interne ne le permet pas.", "Le modèle a renvoyé un risque élevé.",
           "D'après les informations de votre dossier.", "Pour des raisons commerciales.", "Pour des raisons internes.",
           "Nos critères n'autorisent pas ce prêt.", "Malheureusement, nous ne pouvons pas donner suite.",
           "Votre profil ne convient pas."],
}  # fmt: skip
SHORT = {
    "en": ["File number missing.", "Credit file too thin.", "Returned payments.", "Time in business.", "No permit.",
           "Business too new.", "Commercial use of the vehicle.", "The property assessment is below the loan.",
           "No proof of income.", "Residence permit expired.", "Too little time with your employer.", "Child support."],
    "de": ["Kein Abschluss.", "Ihr Abschluss entspricht nicht unseren Anforderungen.", "Zulassung fehlt.",
           "Das Gehalt reicht nicht aus.", "Offene Mahnung.", "Aus gesundheitlichen Gründen.", "Miete zu hoch.",
           "Die Vertragslaufzeit entspricht nicht unseren Vorgaben.", "Ihre Rücklagen lassen keine weitere Rate zu."],
    "fr": ["Pas de permis.", "Contrat de travail trop court.", "Votre diplôme ne répond pas à nos critères.",
           "Vos revenus ne permettent pas cette mensualité.", "Dossier de location sans garant.", "Chèques impayés."],
}  # fmt: skip


@each_case(("language", "sentence"), _each(SILENT))
def test_verbs_and_courtesies_make_no_reason_of_what_is_none(language, sentence):
    assert kinds(sentence, "general", language) & {"no_reason", "score_only", "internal_standard", "conclusion_only"}


@each_case(("language", "sentence"), _each(SHORT))
def test_a_short_reason_that_names_a_thing_of_the_person_or_the_object_is_one(language, sentence):
    weak = {"no_reason", "score_only", "internal_standard", "conclusion_only"}
    assert not kinds(sentence, "general", language) & weak


@each_case(("pack", "language"), EVERY)
def test_every_pack_knows_all_three_kinds_in_each_of_its_languages(pack, language):
    assert {weak.id for weak in packs()[pack].weak_reasons} == {"score_only", "internal_standard", "conclusion_only"}
    assert "conclusion_only" in kinds(CONCLUSION[language][0], pack, language)
    assert "score_only" in kinds(SCORE_ONLY[language][0], pack, language)
    assert "internal_standard" in kinds(INTERNAL[language][0], pack, language)


def test_the_warning_says_which_law_and_what_to_write_instead():
    record = {"decision_id": "d", "outcome": {"action": "denied", "reasons": ["Score too low."]}}
    (warning,) = warnings_of(record, "us_ecoa_fcra")
    assert warning.sentence == (
        "A score is no reason: say what lowered it (12 CFR 1002.9(b)(2)). This is about statement 1 of main_factors."
    )


@pytest.mark.django_db
def test_a_weak_reason_needs_an_acknowledged_warning(api):
    fill_in_names(api, "us_ecoa_fcra")
    api.ingest({"decision_id": "weak", "outcome": {"action": "denied", "reasons": ["Score below our cutoff."]}})
    notice = drafted(api, "weak")
    (warning,) = notice["warnings"]
    assert warning["id"] in refused(approve(api, notice))
    assert done(approve(api, notice, acknowledge=[warning["id"]]))["state"] == "approved"


# ── the model reasons of the law ──


def _shipped() -> list[Phrase]:
    with open(SHIPPED / "us_adverse_action.csv", newline="", encoding="utf-8") as file:
        return read_table(file)


def test_the_model_reasons_of_regulation_b_and_hmda_are_shipped():
    keys = [phrase.key for phrase in _shipped()]
    assert len([key for key in keys if key.startswith("reg_b_")]) == 23  # the reasons of Form C-1 without "other"
    assert [key for key in keys if key.startswith("HMDA-")] == [f"HMDA-{number}" for number in range(1, 9)]


@each_case("phrase", _shipped())
def test_no_model_reason_of_the_law_is_warned_about(phrase):
    assert kinds(phrase.sentence) == set()


@pytest.mark.django_db
def test_model_reasons_are_imported_by_name_and_printed(api):
    call_command("import_phrasebook", "us_adverse_action", organization=api.organization.slug)
    assert Phrase.objects.filter(organization=api.organization).count() == 31
    api.ingest({"decision_id": "h", "outcome": {"action": "denied", "reason_codes": ["HMDA-1", "reg_b_bankruptcy"]}})
    content = drafted(api, "h", pack="us_ecoa_fcra")["content"]
    assert [item["statement"] for item in content["main_factors"]] == ["Debt-to-income ratio.", "Bankruptcy."]


@pytest.mark.django_db
def test_a_name_that_is_not_shipped_is_a_file_that_cannot_be_read(api, tmp_path):
    with pytest.raises(CommandError, match="Cannot read"):
        call_command("import_phrasebook", "us_nothing", organization=api.organization.slug)


def test_words_that_are_empty_together_are_known_in_every_language():
    assert set(EMPTY) == set(LANGUAGES)
