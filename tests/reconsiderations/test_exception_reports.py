"""Exception reports, as Django writes them for a page or a mail: they name places in the code, but no private text.

The tests search the whole report: the request, and the variables of each function in the traceback.
"""

import json

import pytest
from django.views.debug import get_exception_reporter_class

from accounts.roles import Role
from decisions import commitments, review_records
from decisions.forms import ReviewForm
from decisions.review_records import Review
from decisions.schemas import ReconsiderationCheckIn, ReconsiderationIn
from decisions.services import reconsiderations
from tests.reconsiderations.canaries import EVIDENCE, RATIONALE, traces
from tests.reconsiderations.conftest import REVIEW, SENT_ONCE, check, reconsider

pytestmark = pytest.mark.django_db
MARKED = {**REVIEW, "rationale": RATIONALE, "evidence_considered": [EVIDENCE]}
PLACES = [
    (reconsiderations, "store_records"),
    (review_records, "payload"),
    (commitments, "_digest"),
    (reconsiderations, "audit"),
]


@pytest.fixture(params=PLACES, ids=lambda place: place[1])
def fault(request, monkeypatch):
    """Let each step of the service fail in turn."""
    error = RuntimeError("an unforeseen fault")

    def fail(*args, **options):
        raise error

    fail.record = fail
    monkeypatch.setattr(*request.param, fail)
    return error


def reported(answer, error):
    reporter = get_exception_reporter_class(answer.wsgi_request)(
        answer.wsgi_request, type(error), error, error.__traceback__
    )
    return [reporter.get_traceback_text().encode(), reporter.get_traceback_html().encode()]


@pytest.fixture(params=[False, True], ids=["production", "DEBUG"])
def debug(request, settings):
    settings.DEBUG = request.param


def test_a_fault_behind_the_api_reports_no_text(api, original, debug, fault):
    answer = reconsider(api, rationale=RATIONALE, evidence_considered=[EVIDENCE])
    assert answer.status_code == 500
    assert traces([answer.content], b"detail") == []
    assert traces(reported(answer, fault), b"an unforeseen fault") == []


def test_a_fault_behind_the_form_reports_no_text(signed_in, original, debug, fault):
    browser = signed_in(Role.EDITOR)
    page = f"/admin/decisions/decision/{original['record_id']}"
    fields = {**REVIEW, **SENT_ONCE, "rationale": RATIONALE, "evidence_considered": EVIDENCE}
    answer = browser.submit(f"{page}/change/", f"{page}/reconsider/", **fields)
    assert answer.status_code == 500
    assert traces([answer.content], b"") == []
    assert traces(reported(answer, fault), b"an unforeseen fault") == []


def test_a_fault_behind_a_check_reports_no_text(api, original, debug, monkeypatch):
    recorded = reconsider(api).json()["decision_id"]
    error = RuntimeError("an unforeseen fault")

    def fail(*args):
        raise error

    monkeypatch.setattr(commitments.hmac, "compare_digest", fail)
    answer = check(api, recorded, rationale=RATIONALE, evidence_considered=[EVIDENCE])
    assert answer.status_code == 500
    assert traces(reported(answer, error), b"an unforeseen fault") == []


def test_objects_with_the_texts_do_not_print_them(api, original):
    """Printed objects end up in reports, debuggers and logs."""
    form = ReviewForm({**MARKED, **SENT_ONCE, "evidence_considered": EVIDENCE})
    assert form.is_valid()
    holders = [
        Review(**MARKED),
        form,
        form.review(),
        ReconsiderationIn.model_validate(MARKED),
        ReconsiderationCheckIn(rationale=RATIONALE, evidence_considered=[EVIDENCE]),
    ]
    printed = [
        form(holder).encode() for holder in holders for form in (repr, str) if not isinstance(holder, ReviewForm)
    ]
    assert traces([*printed, repr(holders[1]).encode()], b"requested_by") == []


def test_a_refused_form_keeps_its_values_except_the_texts():
    form = ReviewForm({**MARKED, "evidence_considered": EVIDENCE, "reviewer": ""})
    assert not form.is_valid()
    assert traces([str(form).encode(), json.dumps(form.errors).encode()], b"credit officer") == []
