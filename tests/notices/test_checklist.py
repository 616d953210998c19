"""Problems that block approval beside the law's elements, and elements that check more than the words."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from notices.models import Phrase
from tests.growth import assert_linear
from tests.notices.conftest import (
    RECORD,
    approve,
    approve_acknowledged,
    done,
    drafted,
    edit,
    exempt,
    fill_in_names,
    ingest_sample,
    refused,
    send,
    shown,
    stored,
)
from tests.notices.test_loop import tell
from tests.notices.test_review_requests import ask, reconsider

pytestmark = pytest.mark.django_db

BLANK = {"statement": " \n", "source": "outcome.action"}


def result(checked: dict, element: str) -> str:
    return next(item["result"] for item in checked["elements"] if item["id"] == element)


# ── words ──


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"title": "  "}, "The notice has no title."),
        ({"framework": "No law at all"}, "The framework is not the pack's"),
        ({"inputs_used": [BLANK]}, "Statement 1 of inputs_used says nothing"),
    ],
)
def test_a_letter_that_would_come_out_empty_or_under_another_law_is_not_approved(api, notice, changes, problem):
    notice = drafted(api, pack="gdpr_22")
    edited = done(edit(api, notice, **changes))
    assert any(problem in sentence for sentence in edited["problems"])
    assert problem in refused(approve(api, notice))


def test_a_statement_without_words_is_no_reason(api):
    fill_in_names(api, "us_ecoa_fcra")
    notice = drafted(api, ingest_sample(api, "synthetic-insurance-04"))
    assert result(notice, "specific_reasons") == "present"
    edited = done(edit(api, notice, main_factors=[{**BLANK, "source": "outcome.reasons.0.text"}]))
    assert result(edited, "specific_reasons") == "missing"


@pytest.mark.parametrize("body", [{"decision_sumary": []}, {"main_factors": [{**BLANK, "sauce": ""}]}])
def test_a_misspelt_property_is_refused_and_not_lost(api, notice, body):
    answer = edit(api, notice, **body)
    assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, "extra_forbidden")


# ── withheld fields ──


@pytest.fixture
def withholding(api, notice) -> dict:
    """Return the notice after the phrasebook withholds a field of its record."""
    notice = drafted(api, pack="eu_ai_act_86")
    Phrase.objects.create(organization=api.organization, language="en", key="loan_to_value", withheld=True)
    return notice


def test_a_field_that_is_withheld_now_is_not_printed_though_it_was_when_this_was_written(api, withholding):
    assert "events.application.loan_to_value is withheld" in refused(approve(api, withholding))


def test_a_letter_that_leaves_something_out_has_to_say_so(api, withholding):
    inputs = [item for item in withholding["content"]["inputs_used"] if "loan_to_value" not in item["source"]]
    edit(api, withholding, inputs_used=inputs)
    problem = refused(approve(api, withholding))
    withheld = "We have left some information out of this letter."
    assert withheld in problem
    edit(api, withholding, rights=[*withholding["content"]["rights"], withheld])
    assert done(approve_acknowledged(api, withholding))["state"] == "approved"


def test_what_a_law_asks_for_by_name_and_is_withheld_is_left_out_too(api):
    decision_id = ingest_sample(api, "synthetic-prior-authorization-03")
    fill_in_names(api, "us_health_denial")
    Phrase.objects.create(organization=api.organization, language="en", key="outcome.clinical_criteria", withheld=True)
    notice = drafted(api, decision_id)
    silent = [right for right in notice["content"]["rights"] if not right.startswith("We have left")]
    assert silent != notice["content"]["rights"]
    assert any("withholds a part" in problem for problem in done(edit(api, notice, rights=silent))["problems"])


def test_what_is_withheld_and_would_not_be_told_anyway_asks_for_no_sentence(api, notice):
    Phrase.objects.create(organization=api.organization, language="en", key="nowhere", withheld=True)
    assert done(approve(api, notice))["state"] == "approved"


def test_nothing_is_drafted_to_check_a_notice(api, withholding, monkeypatch):
    monkeypatch.setattr("notices.drafting.sentences.Sentences.statements", None)
    assert any("withholds a part" in problem for problem in shown(api, withholding)["problems"])


# ── the record's own values in locked texts ──


def test_the_days_to_appeal_are_those_of_the_record_and_no_others(api):
    decision_id = ingest_sample(api, "synthetic-prior-authorization-03")
    fill_in_names(api, "us_health_denial")
    notice = drafted(api, decision_id)
    (appeal,) = [right for right in notice["content"]["rights"] if "within" in right]
    assert "65 calendar days" in appeal
    assert result(notice, "appeal_medicare") == "present"
    wrong = [right.replace("65 calendar days", "180 calendar days") for right in notice["content"]["rights"]]
    assert result(done(edit(api, notice, rights=wrong)), "appeal_medicare") == "missing"


# ── the reader's language ──


@pytest.mark.parametrize(
    ("reads", "expected"), [("en-US", "present"), ("EN", "present"), ("es", "missing"), ("", "check"), (7, "check")]
)
def test_a_letter_in_a_language_that_the_person_does_not_read_is_noticed(api, reads, expected):
    api.ingest(RECORD)
    notice = drafted(api, pack="us_co_admt", recipient={"language": reads} if reads else {})
    assert result(notice, "language") == expected


def test_the_language_of_the_record_s_subject_counts_where_the_recipient_has_none(api):
    api.ingest({**RECORD, "subject": {"language": "es"}})
    assert result(drafted(api, pack="us_co_admt"), "language") == "missing"


# ── elements on request ──


@pytest.fixture
def asked(api, api_for) -> dict:
    """Return a delivered letter whose reader requested a review, under a law that gives a month to answer."""
    api.ingest({**RECORD, "outcome": {**RECORD["outcome"], "solely_automated": True, "legal_basis": "contract"}})
    notice = drafted(api, pack="gdpr_22")
    missing = [item["id"] for item in notice["elements"] if item["result"] == "missing" and item["blocks"]]
    exempt(api, notice, **dict.fromkeys(missing, "Told in another letter."))
    edit(api, notice, title="As approved")
    assert result(notice, "answered_in_time") == "not_applicable"
    done(approve(api_for(api.organization), notice))
    ask(api, notice)
    return notice


def test_until_the_answer_its_time_is_something_to_look_at(api, asked):
    assert result(shown(api, asked), "answered_in_time") == "check"


def test_an_answer_in_time_is_one_and_a_late_one_is_not(api, asked):
    with time_machine.travel(timezone.now() + timedelta(days=40)):
        assert result(shown(api, asked), "answered_in_time") == "missing"
        tell(api, reconsider(api))
        assert result(shown(api, asked), "answered_in_time") == "missing"


def test_a_request_that_was_taken_back_asks_for_no_answer(api, asked):
    (request,) = stored(api, asked).review_requests.all()
    done(send(api, "POST", f"review-requests/{request.pk}/close", {"reason": "Taken back."}))
    with time_machine.travel(timezone.now() + timedelta(days=40)):
        assert result(shown(api, asked), "answered_in_time") == "not_applicable"


def test_a_letter_about_the_reconsideration_is_the_answer(api, asked):
    answer = reconsider(api)
    assert result(shown(api, asked), "answered_in_time") == "check"
    tell(api, answer)
    assert result(shown(api, asked), "answered_in_time") == "present"


def test_a_request_holds_for_every_letter_about_the_decision_and_for_no_other(api, asked):
    again = done(send(api, "POST", f"notices/{asked['notice_id']}/versions"))
    assert result(again, "answered_in_time") == "check"
    api.ingest({**RECORD, "decision_id": "loan-2"})
    other = drafted(api, "loan-2", pack="gdpr_22")
    assert result(other, "answered_in_time") == "not_applicable"
    assert stored(api, other).review_requests.count() == 0


def test_the_time_to_compare_a_right_grows_with_its_length_alone(api):
    used = {"outcome": {**RECORD["outcome"], "consumer_report_used": True}}
    api.ingest({**RECORD, **used, "events": {"consumer_report": {"agency": {"name": "Example Bureau"}}}})
    fill_in_names(api, "us_ecoa_fcra")
    notice = drafted(api)
    (agency,) = [right for right in notice["content"]["rights"] if right.startswith("We used a report")]

    def compare(wrong):
        assert result(done(edit(api, notice, rights=[wrong])), "report_agency_of_record") == "missing"

    assert_linear(compare, lambda count: agency.partition(",")[0] + ", " + "x, " * count, 15_000)
