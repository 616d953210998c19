"""Warnings do not block approval, but the approver must acknowledge each one."""

import json

import pytest

from accounts.roles import Role
from custody import selectors as custody
from custody.models import Entry
from notices import warnings
from notices.models import Approval
from tests.notices.conftest import (
    RECORD,
    approve,
    done,
    drafted,
    edit,
    exempt,
    fill_in_names,
    guard,
    refused,
    shown,
    stored,
)
from tests.notices.test_back_office import do, page
from tests.notices.test_back_office_editing import form as filled_form
from tests.people import events
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

ODD = {**RECORD, "outcome": {**RECORD["outcome"], "action": "flurbled", "result": "zapped"}}


@pytest.fixture
def warned(api) -> dict:
    """Return a draft about a decision in unknown words."""
    guard(api.organization, require_acknowledged=True)
    assert api.ingest(ODD).status_code == 201
    return drafted(api)


def ids(notice: dict) -> list[str]:
    return [warning["id"] for warning in notice["warnings"]]


def test_every_answer_about_a_notice_has_its_warnings(api, warned):
    first, second = warned["warnings"]
    assert set(first) == {"id", "sentence", "where"}
    assert "flurbled" in first["sentence"]
    assert "zapped" in second["sentence"]
    assert shown(api, warned)["warnings"] == shown(api, warned, "/checklist")["warnings"] == warned["warnings"]


def test_an_unacknowledged_warning_is_a_conflict_that_lists_it_without_its_words(api, warned):
    first, second = ids(warned)
    for acknowledged, open_ones in ([], (first, second)), ([first], (second,)), ([second, "other"], (first,)):
        problem = refused(approve(api, warned, acknowledge=acknowledged))
        assert [path for path in (first, second) if path in problem] == list(open_ones)
        assert "flurbled" not in problem
    assert not Approval.objects.exists()


def test_acknowledged_warnings_are_recorded_and_sealed(api, warned):
    approval = done(approve(api, warned, acknowledge=ids(warned)))["approval"]
    assert approval["acknowledged"] == warned["warnings"]
    entry = Entry.objects.get(pk=shown(api, warned)["custody_record_id"])
    assert json.loads(custody.opened(entry).payload)["approval"]["acknowledged"] == warned["warnings"]
    (event,) = events("notice.approved")
    assert event.detail["warnings_acknowledged"] == 2


def test_a_notice_without_warnings_is_approved_as_before_and_none_are_recorded(api, notice):
    assert notice["warnings"] == []
    approval = done(approve(api, notice, acknowledge=["of-another-notice"]))["approval"]
    assert approval["acknowledged"] == []


def test_an_approval_from_before_there_were_warnings_is_sealed_as_it_was(api, approved):
    with unguarded():
        Approval.objects.update(acknowledged=None)
    from notices.services.sealing import _record

    assert "acknowledged" not in _record(stored(api, approved), stored(api, approved).approval)["approval"]
    assert shown(api, approved)["approval"]["acknowledged"] is None


def test_an_acknowledgement_of_other_words_does_not_count(api, warned):
    before = {"statement": "You earn 90,000 a year.", "source": "events.application.loan_to_value"}
    edited = done(edit(api, warned, main_factors=[before]))
    again = done(edit(api, warned, main_factors=[{**before, "statement": "You earned 90,000 a year."}]))
    assert len(ids(edited)) == len(ids(again)) == 5
    assert len(set(ids(edited)) & set(ids(again))) == 3


def test_problems_come_before_warnings(api):
    fill_in_names(api, "us_ecoa_fcra")
    api.ingest({**ODD, "outcome": {"action": "flurbled"}})
    assert "1002.9" in refused(approve(api, drafted(api)))


@pytest.mark.parametrize("wrong", ["all", [1], [""], ["x" * 65], ["x"] * 2001, None])
def test_ids_are_texts(api, warned, wrong):
    assert approve(api, warned, acknowledge=wrong).status_code == 422


def test_too_many_warnings_are_cut_and_the_cut_is_stated(api, notice, monkeypatch):
    notice = drafted(api, pack="eu_ai_act_86")
    monkeypatch.setattr(warnings, "MOST", 3)
    items = [
        {"statement": f"You have {n} cars.", "source": "events.application.loan_to_value"} for n in range(700, 710)
    ]
    edited = done(edit(api, notice, main_factors=items))
    listed = edited["warnings"]
    assert len(listed) == 4
    assert "more to look at" in listed[-1]["sentence"]
    assert edited["problems"][-1] == listed[-1]["sentence"]
    edited = done(edit(api, notice, main_factors=notice["content"]["main_factors"], inputs_used=items))
    assert edited["problems"] == [edited["warnings"][-1]["sentence"]]
    listed = edited["warnings"]
    assert "more to look at" in refused(approve(api, notice, acknowledge=[warning["id"] for warning in listed]))


def test_unproved_sentences_come_before_unclear_fields(api, monkeypatch):
    monkeypatch.setattr(warnings, "MOST", 3)
    terms = {f"rate_{n}_apr": 0.1 + n / 1000 for n in range(10)}
    api.ingest({**RECORD, "events": {**RECORD["events"], "pricing": terms}})
    false = {"statement": "You owe 987,654 EUR.", "source": "events.application.loan_to_value"}
    notice = drafted(api)
    edited = done(edit(api, notice, inputs_used=[*notice["content"]["inputs_used"], false]))
    assert any("987,654" in warning["sentence"] for warning in edited["warnings"][:3])


def test_the_approver_is_warned_about_waived_elements(api):
    fill_in_names(api, "us_ecoa_fcra")
    api.ingest({**RECORD, "outcome": {"action": "denied"}})
    notice = drafted(api, pack="us_ecoa_fcra")
    missing = [item["id"] for item in notice["elements"] if item["result"] == "missing" and item["blocks"]]
    waived = done(exempt(api, notice, **dict.fromkeys(missing, "Told in another letter. " * 50)))
    waivers = [warning for warning in waived["warnings"] if warning["id"].startswith("waived_element-")]
    assert len(waivers) == len(missing) > 0
    assert all("Told in another letter." in waiver["sentence"] and len(waiver["sentence"]) < 600 for waiver in waivers)
    again = done(exempt(api, notice, **dict.fromkeys(missing, "Told in another letter. " * 51)))
    assert {waiver["id"] for waiver in waivers}.isdisjoint(warning["id"] for warning in again["warnings"])


# ── in the back office ──


def test_the_form_has_a_checkbox_for_each_and_needs_all(api, warned, signed_in):
    browser = signed_in(Role.APPROVER)
    html = browser.get(page(warned)).content.decode()
    for warning in warned["warnings"]:
        assert f'name="acknowledge" value="{warning["id"]}"' in html
        assert html.count(warning["sentence"].split(" is no word")[0]) == 1
    first, second = ids(warned)
    answer = do(browser, warned, "approve", acknowledge=[first])
    assert answer.status_code == 409
    assert "Tick each warning below" in answer.content.decode()
    assert f"{second} (" not in answer.content.decode(), "a tick says more than an id"
    assert f'value="{first}" id="approve-acknowledge_0" checked' in " ".join(answer.content.decode().split())
    assert do(browser, warned, "approve", acknowledge=[first, second]).status_code == 302
    assert "Warnings that were acknowledged: 2" in browser.get(page(warned)).content.decode()


def test_members_who_cannot_approve_read_the_warnings_too(api, warned, signed_in):
    html = signed_in(Role.EDITOR).get(page(warned)).content.decode()
    assert "flurbled" in html
    assert 'name="acknowledge"' not in html


def test_a_page_without_warnings_says_nothing_of_them(api, notice, signed_in):
    html = signed_in(Role.APPROVER).get(page(notice)).content.decode()
    assert "warnings-title" not in html
    assert "acknowledge" not in html


def test_the_editor_shows_warnings_of_the_typed_text_beside_its_sentence(api, notice, signed_in):
    browser = signed_in(Role.EDITOR)
    form = filled_form(browser, notice)
    edited = page(notice, "edit-notice")
    wrong = {
        "inputs_used-0-statement": "Your income was 4711.",
        "inputs_used-0-source": "events.application.self_employed",
    }
    assert "“4711”" not in browser.get(edited).content.decode()
    answer = browser.post(edited, form | wrong | {"revision": "x"})
    assert "“4711” is not in the field that this sentence cites" in answer.content.decode()
    assert browser.post(edited, form | wrong).status_code == 302
    assert "“4711” is not in the field" in browser.get(edited).content.decode()


def test_warnings_name_a_sentence_by_the_number_that_it_has_on_the_page(api, notice, signed_in):
    long_one = {"statement": f"The loan is {'much, ' * 50}too large.", "source": "outcome.reasons.0"}
    item = {"statement": "Your income was 4711.", "source": "events.application.self_employed"}
    edited = done(edit(api, notice, main_factors=[long_one], inputs_used=[long_one, item]))
    above = [line for name in ("decision_summary", "role_of_automated_system") for line in edited["content"][name]]
    number = len(above) + 3
    browser = signed_in(Role.APPROVER)
    for look in (signed_in(Role.EDITOR), browser):
        html = look.get(page(notice)).content.decode()
        assert f"“4711” is not in the field that sentence {number} cites" in html
        assert f"hard to read: sentence {number - 2}." in html
        assert f'<li value="{number}"' in html
        assert " of inputs_used" not in html
    assert do(browser, edited, "approve", acknowledge=ids(edited)).status_code == 302
    acknowledged = browser.get(page(notice)).content.decode()
    assert f"“4711” is not in the field that sentence {number} cites" in acknowledged


def test_warnings_contain_no_character_the_database_rejects(api):
    api.ingest({**RECORD, "outcome": {**RECORD["outcome"], "action": "flur\x00bled"}})
    notice = drafted(api)
    assert "flurbled" in notice["warnings"][0]["sentence"]
    done(approve(api, notice, acknowledge=ids(notice)))
