"""An approval names the revision that was read, or is marked as naming none."""

import json
import re

import pytest

from accounts.roles import Role
from custody import selectors as custody
from custody.models import Entry
from notices import services
from notices.models import Approval
from tests.notices.conftest import acting, approve, done, shown, step, stored
from tests.notices.test_back_office import do, page
from tests.notices.test_back_office_editing import form as filled_form
from tests.people import events
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


def test_an_approval_without_a_revision_is_marked_words_not_named(api, notice):
    approval = done(approve(api, notice))["approval"]
    assert approval["words_named"] is False
    assert approval["remark"].startswith("Words not named")
    assert shown(api, notice)["approval"] == approval
    (event,) = events("notice.approved")
    assert (event.detail["revision"], event.detail["words_named"]) == (1, False)


def test_an_approval_with_a_revision_has_no_mark(api, notice):
    approval = done(approve(api, notice, revision=1))["approval"]
    assert (approval["words_named"], approval["remark"]) == (True, "")
    (event,) = events("notice.approved")
    assert event.detail["words_named"] is True


def test_null_is_no_revision(api, notice):
    assert done(approve(api, notice, revision=None))["approval"]["words_named"] is False


def test_the_mark_is_sealed_and_in_the_history(api, notice, signed_in):
    done(approve(api, notice))
    entry = Entry.objects.get(pk=shown(api, notice)["custody_record_id"])
    assert json.loads(custody.opened(entry).payload)["approval"]["words_named"] is False
    assert "did not say which revision was read" in signed_in(Role.EDITOR).get(page(notice)).content.decode()


def test_the_form_sends_the_revision_and_is_refused_without_it(api, notice, signed_in):
    browser = signed_in(Role.APPROVER)
    html = browser.get(page(notice)).content.decode()
    forms = [form for form in re.findall(r"<form[^>]*/do/.*?</form>", html, re.DOTALL) if "csrf" in form]
    assert forms, "that can be sent"
    assert all('<input type="hidden" name="revision" value="1">' in form for form in forms)
    assert do(browser, notice, "approve", revision="").status_code == 422
    assert not Approval.objects.exists()
    assert do(browser, notice, "approve").status_code == 302
    assert shown(api, notice)["approval"]["words_named"] is True


def test_every_form_of_the_page_needs_the_revision(api, notice, signed_in):
    browser, before = signed_in(Role.OWNER, "another@bank.example"), notice
    for name in ("approve", "submit", "hold", "recipient", "withdraw", "request-changes"):
        if name == "request-changes":
            before = done(step(api, notice, "submit"))
        assert do(browser, notice, name, revision="", reason="Because.").status_code == 422, name
        assert shown(api, notice) == before, name


def test_an_edit_form_without_the_revision_is_not_saved(api, notice, signed_in):
    browser = signed_in(Role.EDITOR)
    form = filled_form(browser, notice)
    for unnamed in ("", "x"):
        answer = browser.post(page(notice, "edit-notice"), form | {"title": "Unseen", "revision": unnamed})
        assert (answer.status_code, "which revision it showed" in answer.content.decode()) == (422, True)
    assert shown(api, notice)["revision"] == 1
    assert browser.post(page(notice, "edit-notice"), form | {"title": "Seen"}).status_code == 302


def test_an_approval_from_before_the_marks_is_marked_unknown(api, notice, organization):
    services.approve(notice=stored(api, notice), caller=acting(organization, Role.APPROVER, "a@bank.example"))
    with unguarded():
        Approval.objects.update(words_named=None)
    approval = shown(api, notice)["approval"]
    assert (approval["words_named"], approval["remark"]) == (None, "")
