# ruff: noqa: RUF001 - real apostrophes and letters that look alike
"""Prohibited bases are never printed as information used, and the approver is warned if one was a reason."""

import json

import pytest

from notices.packs import packs
from notices.sensitive.bases import basis_ids, prohibited_bases, title_of
from notices.warnings import ApprovalWarning
from tests.cases import each_case
from tests.notices.conftest import done, drafted, fill_in_names, refused, send, shown, step, warnings_of
from tests.notices.drafts import case
from tests.notices.drafts import drafted as draft_of
from tests.notices.drafts import warnings_of as find

SECRET = "canary"
# Names of each basis in records.
FIELDS = {
    "race": (
        "race",
        "applicantRace",
        "hmda_ethnicity",
        "ethnic-group",
        "is_black",
        "hispanic",
        "isWhite",
        "r\u0430ce",
        "ra\u200bce",
    ),
    "color": ("color", "skinTone", "hautfarbe"),
    "religion": (
        "religion",
        "religiousAffiliation",
        "Konfession",
        "Religionszugehörigkeit",
        "is_muslim",
        "convictions religieuses",
    ),
    "national_origin": (
        "nationalOrigin",
        "country_of_birth",
        "staatsangehörigkeit",
        "nationalité",
        "pays d’origine",
        "Muttersprache",
    ),
    "sex": ("sex", "Gender", "applicant_sex", "geschlecht", "sexe", "is_female", "s\u0435x", "ｇｅｎｄｅｒ"),
    "marital_status": (
        "marital_status",
        "maritalStatus",
        "isMarried",
        "Familienstand",
        "etat_civil",
        "situation familiale",
        "ledig",
    ),
    "age": (
        "age",
        "applicant_age",
        "age_in_years",
        "dateOfBirth",
        "DOB",
        "geburtsdatum",
        "age_at_application",
        "driver_age",
        "ageOfDriver",
        "over_62",
    ),
    "disability": ("disability", "has_disability", "schwerbehinderung"),
    "pregnancy": ("pregnant", "maternity_leave", "grossesse", "Schwangerschaft"),
    "health": ("diagnosis", "Krankheiten", "état de santé"),
    "demographics": ("demographics", "hmda", "government_monitoring_information"),
    "genetic": ("genetic_test", "dnaResult"),
    "sexual_orientation": ("sexualOrientation", "sexuelle_orientierung"),
    "trade_union": ("trade_union_member", "unionMembership", "gewerkschaft"),
    "political_opinion": ("politicalParty", "political_opinion"),
    "public_assistance": ("public_assistance", "receivesWelfare", "tanf_income"),
    "consumer_rights": ("ccpa_rights_exercised",),
    "military": ("veteran_status", "military_service"),
}
FORBIDDEN = [
    (name, basis) for name in sorted(packs()) for group in packs()[name].prohibited_bases for basis in group.bases
]


def named(warnings: list[ApprovalWarning]) -> list[ApprovalWarning]:
    return [warning for warning in warnings if warning.id.startswith("prohibited_basis")]


def test_every_basis_has_names_and_a_pack_that_forbids_it():
    assert set(FIELDS) == basis_ids() == {basis for _, basis in FORBIDDEN}


@each_case(("pack", "basis"), FORBIDDEN)
def test_a_factor_about_a_basis_is_left_out_and_the_approver_warned_with_the_law(pack: str, basis: str):
    language = packs()[pack].languages[0]
    factor = {"factor": FIELDS[basis][0], "value": SECRET, "direction": "adverse"}
    record = {"outcome": {"action": "denied", "principal_factors": [factor]}}
    assert SECRET not in json.dumps(draft_of(record, pack, language))
    [warning] = named(find(record, pack, language))
    assert warning.sentence.startswith(
        f"The record names {title_of(basis)} as a reason or factor (outcome.principal_factors.0"
    )
    assert packs()[pack].citation_of(basis) in warning.sentence
    assert SECRET not in warning.sentence


def test_a_factor_whose_path_leads_to_one_is_found_by_the_path():
    factor = {"factor": "profile", "path": "events.application.sex", "value": SECRET}
    record = {
        "events": {"application": {"sex": SECRET}},
        "outcome": {"action": "denied", "principal_factors": [factor]},
    }
    assert SECRET not in json.dumps(draft_of(record, "us_ecoa_fcra"))
    assert len(named(find(record, "us_ecoa_fcra"))) == 1


@each_case(
    ("pack", "language", "reason"),
    [
        ("us_ecoa_fcra", "en", "You are an unmarried applicant."),
        ("us_ecoa_fcra", "en", "Your income is from public assistance."),
        ("us_ecoa_fcra", "en", "The applicant’s age is too high: too old for this product."),
        ("us_ecoa_fcra", "en", "The applicant is black."),
        ("us_ecoa_fcra", "en", "Your r\u0430ce counted."),
        ("us_ecoa_fcra", "en", "You are a mar\u00adried applicant."),
        ("us_ecoa_fcra", "en", "You are single."),
        ("gdpr_22", "fr", "Votre situation familiale a compté."),
        ("eu_ccd2_18", "de", "Ihre Vorerkrankungen wurden gezählt."),
        ("us_co_admt", "en", "You have a disability that the model counts."),
        ("gdpr_22", "de", "Ihre Gewerkschaftszugehörigkeit hat gezählt."),
        ("gdpr_22", "de", "Das Geschlecht des Antragstellers hat gezählt."),
        ("gdpr_22", "fr", "Vos opinions politiques ont compté."),
        ("ca_qc_12_1", "fr", "Vous êtes célibataire."),
        ("uk_gdpr_22c", "en", "Your nationality was taken into account."),
        ("general", "en", "Your religion was taken into account."),
    ],
)
def test_a_reason_in_words_is_printed_and_warned_of(pack: str, language: str, reason: object):
    record = {"outcome": {"action": "denied", "reasons": [reason]}}
    content = draft_of(record, pack, language)
    assert len(content["main_factors"]) == 1
    assert [warning.where for warning in named(find(record, pack, language))] == ["main_factors.0"]
    left_out = named(find(record, pack, language, main_factors=[]))
    assert len(left_out) == 1, "nor is it forgotten once an editor removed it"
    assert "the letter does not cite it" in left_out[0].sentence


@each_case(
    "reason",
    [
        "The age of your credit accounts is short.",
        "Too many accounts.",
        "Your stage is late.",
        "A single payment is late.",
        "Your accounts are in the black.",
        "The white paper counted.",
    ],
)
def test_a_reason_about_something_else_is_none(reason: str):
    assert named(find({"outcome": {"action": "denied", "reasons": [reason]}}, "us_ecoa_fcra")) == []


def test_rights_name_the_bases_and_are_no_reasons():
    record = {"outcome": {"action": "denied", "reasons": ["The income is too low."]}}
    assert any("marital status" in right for right in draft_of(record, "us_ecoa_fcra")["rights"])
    assert named(find(record, "us_ecoa_fcra")) == []


def test_each_law_is_cited_and_its_source_was_read():
    for pack in packs().values():
        assert pack.prohibited_bases, pack.id
        for group in pack.prohibited_bases:
            assert group.citation
            assert pack.source(group.source).reading in ("primary", "copy", "secondary", "own")


def test_the_same_bases_are_put_together_once():
    ids = tuple(sorted(basis_ids()))
    assert prohibited_bases(ids) is prohibited_bases(ids)
    assert list(prohibited_bases(ids).told("x " * 1000)) == []


def test_a_record_with_an_odd_outcome_is_searched_for_bases():
    for outcome in (None, "denied", [], {"reasons": None}, {"reasons": {"a": {"b": ["married"]}}}, {"factors": "sex"}):
        record = {"outcome": outcome}
        assert case(record, "us_ecoa_fcra")
        assert bool(named(find(record, "us_ecoa_fcra"))) == (isinstance(outcome, dict) and any(outcome.values()))


@pytest.mark.django_db
def test_the_approver_acknowledges_it(api):
    fill_in_names(api, "us_ecoa_fcra")
    reasons = ["The income is too low."]
    factors = [{"factor": "marital_status", "value": "divorced"}]
    outcome = {"action": "denied", "reasons": reasons, "principal_factors": factors, "what_would_have_changed": []}
    record = {"decision_id": "loan-1", "decided_at": "2026-11-02T10:00:00Z", "outcome": {**outcome, "reasons": []}}
    done(api.ingest(record))
    notice = drafted(api)
    own = {"main_factors": [{"statement": "The income is too low.", "source": "outcome.action"}]}
    done(send(api, "PATCH", f"notices/{notice['notice_id']}", {"content": own}))
    assert "prohibited_basis-" in str(shown(api, notice)["warnings"])
    claim = {"approver": "Reviewer 7", "authority": "credit officer"}
    sentence = refused(step(api, notice, "approve", claim))
    assert "prohibited_basis-" in sentence or "missing" in sentence
    assert "divorced" not in sentence
    assert warnings_of(api, notice)


ALL = prohibited_bases(tuple(sorted(basis_ids())))


@each_case(
    "sentence",
    ["Frau Berger hat den Antrag selbst geprüft.", "Geprüft von Frau Dr. Ögel.", "Mme Durand a examiné le dossier.",
     "Mrs. White is the reviewer.", "M. Roma a décidé.", "Herr Christian hat den Fall gelesen.", "Mr. Hindu decided."],
)  # fmt: skip
def test_a_form_of_address_before_a_name_tells_of_no_basis(sentence):
    assert list(ALL.told(sentence)) == []


@each_case(
    "sentence",
    ["Sie sind eine Frau.", "Als Frau Anfang dreißig.", "Frau", "Die Antragstellerin ist eine Frau mit Kindern.",
     "Frau Berger ist eine Frau.", "Vous êtes une femme."],
)  # fmt: skip
def test_the_word_of_a_basis_itself_is_recognized(sentence):
    assert list(ALL.told(sentence)) == ["sex"]
