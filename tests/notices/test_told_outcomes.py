"""Outcomes in German, French and English field names, objects, sums, times and flags are printed."""

import pytest

from tests.cases import each_case
from tests.notices.drafts import LANGUAGES, drafted, factors, statement_texts
from tests.notices.test_untold import problems_of, untold_in

WORDS = "Das Einkommen reicht nicht aus."


def summary(outcome: dict, language: str = "en", **record: object) -> list[str]:
    sentences = statement_texts(drafted({"outcome": outcome, **record}, "general", language), "decision_summary")
    return [sentence.replace("\u00a0", " ") for sentence in sentences]


@each_case(
    "key",
    ["entscheidungsgruende", "versagungsgrund", "Hauptgründe", "kuendigungsgrund", "ablehnungsbegruendung",
     "wasHaetteGeaendert", "was_hätte_geändert", "wasHätteGeändert", "whatWouldHaveChanged", "risikofaktoren"],
)  # fmt: skip
def test_german_compounds_give_reasons_and_block_where_nothing_tells_them(key: str):
    assert factors({key: [WORDS]}, language="de") == [WORDS]
    assert problems_of({key: WORDS}, drafted({}))


@pytest.mark.parametrize("key", ["nebenbestimmung", "Zusatzauflage", "auszahlungsbedingungen", "Grundvoraussetzung"])
def test_german_compounds_are_conditions(key: str):
    assert summary({key: "Nur befristet"}, "de")[-1] in ("Eine Bedingung: Nur befristet.", f"{key}: Nur befristet.")
    assert untold_in({key: "x"}, drafted({})) == {key: "condition"}


@pytest.mark.parametrize("key", ["hintergrund", "untergrund", "grundstück", "rechtsgrundlage"])
def test_what_only_sounds_so_is_no_reason(key: str):
    assert not factors({key: WORDS}, language="de")


@each_case(
    ("factor", "language", "expected"),
    [
        ({"facteur": "ratioEndettement", "valeur": 0.61, "effet": "défavorable"}, "fr", "Ratio endettement : 0,61 "),
        ({"merkmal": "mietquote", "wert": 0.41, "wirkung": "negativ"}, "de", "Mietquote: 0,41 "),
        ({"feature": "device_risk", "feature_value": 0.91}, "en", "Device risk: 0.91."),
    ],
)
@each_case("within", ["facteurs", "faktoren", "einflussfaktoren", "factors", "reasons", "motifs"])
def test_a_factor_keeps_its_value_and_direction_in_every_language(factor, language, expected, within):
    (told_so,) = factors({within: [factor]}, language=language)
    assert told_so.replace("\u00a0", " ").startswith(expected)
    assert not untold_in({within: [factor]})


@each_case(
    ("outcome", "expected"),
    [
        ({"review": {"available": True, "within_days": 30}}, "Review within: 30 days."),
        ({"review": {"deadline": "30 June"}}, "Review deadline: 30 June."),
        ({"délaiDeRecours": "30 jours"}, "Délai de recours: 30 jours."),
        ({"widerspruchsfrist": "ein Monat"}, "Widerspruchsfrist: ein Monat."),
        ({"overpayment": {"perWeek": "£11.95"}}, "Overpayment per week: £11.95."),
        ({"arrears": "1 450,00 €"}, "Arrears: 1 450,00 €."),
        ({"service": "Home oxygen"}, "Service: Home oxygen."),
        ({"jobTitle": "Nurse"}, "Job title: Nurse."),
    ],
)
def test_times_sums_and_the_subject_are_printed(outcome, expected):
    assert expected in summary({"action": "denied", **outcome})


@pytest.mark.parametrize("action", ["approved", "pending", "upheld"])
def test_the_subject_of_a_decision_is_printed_for_every_outcome(action):
    assert "Treatment: Laser." in summary({"action": action, "treatment": "Laser"})


@each_case("text", ["$80,000", "320,00 €", "3 000,00 €", "GBP 1,950", "CA$ 7,850.00", "2.310,00 EUR"])
@each_case("key", ["requestedAmount", "montantDemande", "beantragterBetrag"])
def test_the_first_sentence_names_an_amount_with_its_sign(text: str, key: str):
    assert summary({"action": "denied", key: text})[0] == f"This is our decision on your request for {text}."


@each_case("text", ["80,000", "about $80", "$80 or $90", "80 XYZ", "12 months", "€"])
def test_a_text_that_is_no_plain_amount_names_none(text: str):
    assert "our decision on your request for" not in summary({"action": "denied", "requestedAmount": text})[0]


@each_case("language", LANGUAGES)
@each_case(("action", "is_told"), [("pended", False), ("referred", False), ("denied", True)])
def test_an_undecided_case_names_no_system_that_decided_alone(language: str, action: str, is_told: bool):
    record = {"outcome": {"action": action, "solely_automated": True, "materially_influenced_by_system": True}}
    sources = [item["source"] for item in drafted(record, "general", language)["role_of_automated_system"]]
    assert ("outcome.solely_automated" in sources) is is_told


def test_an_outcome_in_action_and_result_is_printed_once():
    outcome = {"action": "uphold", "result": "upheld"}
    assert summary(outcome) == ["The decision stays as it was."]
    assert not untold_in(outcome)
    assert len(summary({"action": "denied", "result": "upheld"})) == 2


def test_a_flag_is_not_printed_as_if_it_were_the_rule():
    record = {"subject": {"plan_type": "employer"}, "outcome": {"action": "denied", "internal_rule_relied_on": True}}
    assert "Internal rule relied on: yes." in statement_texts(drafted(record, "us_health_denial"))
    record["outcome"]["internal_rule_relied_on"] = "Rule 7"
    assert "The internal rule that was used: Rule 7." in statement_texts(drafted(record, "us_health_denial"))


def test_a_list_of_codes_and_reasons_in_one_text_is_parted():
    for text in (
        "R1|Length of employment;R2|Unable to verify income.",
        "A-1 | Length of employment; B|Unable to verify income;",
    ):
        assert factors({"reasons": text}) == ["Length of employment.", "Unable to verify income."]
    assert factors({"reasons": "We asked: A|B; and C."}) == ["We asked: A|B; and C."]


@each_case(
    ("amount", "expected"),
    [
        ({"minor": 24999, "currency": "EUR"}, "€249.99"),
        ({"minorUnits": 24999, "currency": "JPY"}, "¥24,999"),
        ({"amountMinor": 120000, "currency": "GBP", "scale": 2}, "£1,200"),
        ({"value": 2550, "unit": "cents", "currency": "EUR"}, "€25.50"),
        ({"amount_in_cents": 2550, "currency": "EUR"}, "€25.50"),
        ({"minor_amount": 5, "ccy": "USD"}, "$0.05"),
        ({"value": 2550, "currency": "EUR"}, "€2,550"),
    ],
)
def test_an_amount_in_the_smallest_unit_is_printed_as_people_write_it(amount: dict, expected: str):
    """The field that names the unit gets no sentence."""
    (used,) = statement_texts(drafted({"events": {"basket": {"total": amount}}}, "general"), "inputs_used")
    assert used.endswith(f": {expected}.")
    assert "inor" not in used
    assert expected in summary({"action": "approved", "credit": amount})[-1]
    assert not untold_in({"credit": amount})


@pytest.mark.parametrize("fields", [{"minor": True}, {"minor": 2}, {"minor": 2, "unit": "children"}, {"scale": 4}])
def test_what_is_minor_or_a_scale_and_no_money_stays_what_it_is(fields: dict):
    sentences = statement_texts(drafted({"events": {"household": fields}}, "general"), "inputs_used")
    assert len(sentences) == len(fields)
    assert not any(sign in str(sentences) for sign in "€$¥£")
