"""Phrasebook, authority grants, settings, packs, the report and requests for review, on their pages."""

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from accounts.models import Member
from accounts.roles import Role
from notices.models import Approval, AuthorityGrant, Notice, NoticeSettings, Phrase, ReviewRequest
from notices.packs import packs
from notices.phrasebook import COLUMNS
from tests.access.conftest import add_person
from tests.notices.test_back_office import do, page
from tests.notices.test_back_office_review import text
from tests.notices.test_review_requests import ask, offering, reconsider

__all__ = ["offering"]
pytestmark = pytest.mark.django_db

PUT, IMPORT, PHRASES = (f"/admin/notices/phrase/{rest}" for rest in ("put/", "import/", ""))
GRANT, SETTINGS = "/admin/notices/authoritygrant/grant/", "/admin/notices/noticesettings/"
PHRASE = {"language": "en", "key": "R01", "sentence": "Income is too low.", "owner": "Credit", "approved_version": "3"}
HEAD = ",".join(COLUMNS)


@pytest.fixture
def owner(signed_in):
    return signed_in(Role.OWNER)


# ── phrasebook ──


def test_a_phrase_is_added_replaced_and_removed(owner):
    assert owner.submit(PUT, **PHRASE).status_code == 302
    assert owner.submit(PUT, **{**PHRASE, "sentence": "Your income is too low."}).status_code == 302
    phrase = Phrase.objects.get()
    assert phrase.sentence == "Your income is too low."
    own = reverse("admin:notices_phrase_change", args=[phrase.pk])
    assert "Your income is too low." in owner.get(own).content.decode()
    assert owner.submit(own, reverse("admin:remove-phrase", args=[phrase.pk])).status_code == 302
    assert not Phrase.objects.exists()


def test_a_phrase_that_cannot_be_is_refused_at_its_field_and_keeps_the_rest(owner):
    answer = owner.submit(PUT, **{**PHRASE, "key": ""})
    assert answer.status_code == 422
    assert 'id="id_key_error">This field is required.' in answer.content.decode()
    assert "Income is too low.</textarea>" in answer.content.decode()


def test_an_editor_sees_a_phrase_and_cannot_change_it(owner, signed_in):
    owner.submit(PUT, **PHRASE)
    address = reverse("admin:notices_phrase_change", args=[Phrase.objects.get().pk])
    body = signed_in(Role.EDITOR).get(address).content.decode()
    assert "Income is too low.</textarea>" in body
    assert body.count(" disabled") == len(COLUMNS) + 1, "each field, and the button"


def send(browser, table: str | bytes):
    body = table.encode() if isinstance(table, str) else table
    file = SimpleUploadedFile("phrases.csv", body, content_type="text/csv")
    return browser.submit(IMPORT, file=file)


def test_a_table_is_taken_as_a_whole(owner):
    table = f'\ufeff{HEAD}\r\nen,R01,Größe.,,no,,\r\nde,R01,"Ein, Satz.\nZwei.",,,,\r\n'
    answer = send(owner, table)
    assert answer.status_code == 302
    assert {(p.language, p.sentence) for p in Phrase.objects.all()} == {("en", "Größe."), ("de", "Ein, Satz.\nZwei.")}
    assert "2 phrases taken." in owner.get(PHRASES).content.decode()


@pytest.mark.parametrize(
    ("table", "told"),
    [
        (f"{HEAD}\nen,R01,Fine.,,,,\nen,R02,Not fine.,,perhaps,,\n", "Line 3: withheld is yes, no or empty."),
        (f"{HEAD}\nen,R01,Fine.,,,,\nen,R01,Again.,,,,\n", "Line 3: this key is there twice in this language."),
        ("language,key\nen,R01\n", "Line 2: the columns are language, key"),
        (f"{HEAD}\nen,,No key.,,,,\n", "Line 2: key: This field cannot be blank."),
        (f'{HEAD}\nen,R01,"open,,,,\n', "This is no CSV table"),
        (b"\xff\xfe\x00\x00", "The file is not UTF-8 text."),
        ("", "The submitted file is empty."),
        (f"{HEAD}\n" + "x" * settings.FILE_UPLOAD_MAX_MEMORY_SIZE, "Choose a file of less than 1 MiB."),
    ],
)
def test_a_table_that_cannot_be_taken_says_where_and_nothing_of_it_is(owner, table, told):
    answer = send(owner, table)
    assert (answer.status_code, told in text(answer)) == (422, True), text(answer)[-600:]
    assert not Phrase.objects.exists()


# ── grants ──


def test_authority_is_granted_and_revoked_and_approvals_made_with_it_stand(api, notice, owner, signed_in):
    approver = signed_in(Role.APPROVER)
    member = Member.objects.get(role=Role.APPROVER)
    entered = {"member": str(member.pk), "authority": "credit officer", "valid_from": "2026-01-01", "evidence": "Board"}
    assert owner.submit(GRANT, **entered, packs="general").status_code == 302
    grant = AuthorityGrant.objects.get()
    assert (grant.packs, grant.user, grant.evidence) == (["general"], member.user, "Board")
    assert do(approver, notice, "approve").status_code == 302
    assert Approval.objects.get().grant == grant
    own = reverse("admin:notices_authoritygrant_change", args=[grant.pk])
    assert page(notice) in owner.get(own).content.decode()
    assert owner.submit(own, reverse("admin:revoke-grant", args=[grant.pk])).status_code == 302
    grant.refresh_from_db()
    assert grant.revoked_at
    assert Approval.objects.get().grant == grant
    assert "by an authority grant" in text(owner.get(page(notice)))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"valid_to": "2025-12-31"}, "Valid to The grant ends before it begins."),
        ({"valid_from": "soon"}, "Enter a valid date."),
        ({"authority": ""}, "This field is required."),
        ({"packs": "nonesuch"}, "nonesuch is not one of the available choices."),
        ({"member": "0"}, "not one of the available choices"),
    ],
)
def test_a_grant_that_cannot_be_is_refused_and_keeps_what_was_entered(organization, owner, changes, told):
    member = add_person(organization, Role.APPROVER)
    entered = {"member": str(member.pk), "authority": "any", "valid_from": "2026-01-01", "evidence": "Kept here"}
    answer = owner.submit(GRANT, **{**entered, **changes})
    assert (answer.status_code, told in text(answer)) == (422, True), text(answer)[-600:]
    assert "Kept here" in text(answer)
    assert not AuthorityGrant.objects.exists()


def test_nobody_grants_authority_to_themselves(owner):
    me = Member.objects.get(user__email="owner@example-bank.example")
    answer = owner.submit(GRANT, member=str(me.pk), authority="any", valid_from="2026-01-01")
    assert (answer.status_code, "Nobody grants authority to themselves" in text(answer)) == (422, True)


# ── settings, packs and the report ──


def test_settings_are_saved_with_the_names_that_the_packs_need(owner):
    entered = {"default_pack": "us_ecoa_fcra", "at_risk_days": "3", "text_creditor_name": "Example Credit Inc."}
    assert owner.submit(SETTINGS, **entered, require_grants="on").status_code == 302
    made = NoticeSettings.objects.get()
    assert (made.default_pack, made.at_risk_days, made.require_grants) == ("us_ecoa_fcra", 3, True)
    assert made.placeholders == {"creditor_name": "Example Credit Inc."}
    answer = owner.submit(SETTINGS, **entered)
    assert NoticeSettings.objects.get().require_grants is False, "a box that is not ticked is not sent"
    assert answer.status_code == 302


@pytest.mark.parametrize(
    "changes", [{"default_pack": "nonesuch"}, {"at_risk_days": "-1"}, {"at_risk_days": ""}, {"text_contact": "a\x00b"}]
)
def test_settings_that_cannot_be_are_refused_and_kept_on_the_page(owner, changes):
    entered = {"default_pack": "general", "at_risk_days": "3", "text_creditor_name": "Typed Inc."}
    answer = owner.submit(SETTINGS, **{**entered, **changes})
    assert (answer.status_code, 'value="Typed Inc."' in answer.content.decode()) == (422, True)
    assert not NoticeSettings.objects.exists()


@pytest.mark.parametrize("pack_id", sorted(packs()))
def test_every_pack_is_shown_with_all_that_it_asks_for(owner, pack_id):
    pack = packs()[pack_id]
    answer = owner.get(reverse("admin:notice-pack", args=[pack_id]))
    told = text(answer)
    words = pack.text(pack.languages[0])
    for element in pack.elements:
        assert words.labels[element.id] in told
        assert element.citation in told
    assert pack.digest in told
    assert words.framework in text(owner.get(reverse("admin:notice-packs")))


def test_a_pack_that_is_none_is_not_found(owner):
    assert owner.get(reverse("admin:notice-pack", args=["nonesuch"])).status_code == 404


def test_the_report_counts_by_pack_and_names_unverified_authority(api, notice, approved, owner):
    Notice.objects.update(due_at="2020-01-01T00:00Z")
    told = text(owner.get(reverse("admin:notice-report")))
    assert "general 1 0 0 1 1" in told
    assert "Reviewer 7 as credit officer , asserted by key" in told


# ── requests for review ──


@pytest.fixture
def asked(api, offering) -> ReviewRequest:
    return ask(api, offering, message="Line one.\n<b>Line two.</b>", email="person@example.com")


def test_a_request_shows_what_the_person_wrote_and_is_closed_with_a_reason(asked, signed_in):
    browser = signed_in(Role.EDITOR)
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    body = browser.get(address).content.decode()
    assert "Line one.<br>&lt;b&gt;Line two.&lt;/b&gt;" in body
    close = reverse("admin:close-review-request", args=[asked.pk])
    answer = browser.submit(address, close, reason=" ")
    assert (answer.status_code, "Say why" in text(answer)) == (409, True)
    assert browser.submit(address, close, reason="Taken back by letter.").status_code == 302
    asked.refresh_from_db()
    assert asked.closed_because == "Taken back by letter."
    assert "Taken back by letter." in text(browser.get(address))
    assert close not in browser.get(address).content.decode()


def test_a_request_waits_until_a_reconsideration_answers_it(api, asked, signed_in):
    browser = signed_in(Role.EDITOR)
    requests = "/admin/notices/reviewrequest/"
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    assert f"R-{asked.pk}" in text(browser.get(requests))
    reconsider(api)
    assert "Nobody waits for an answer." in text(browser.get(requests))
    assert f"R-{asked.pk}" in text(browser.get(requests, {"state": "answered"}))
    assert "State answered" in text(browser.get(address))
