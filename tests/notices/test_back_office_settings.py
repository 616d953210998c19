"""Pages of the phrasebook, authority grants, settings, packs, the report and review requests."""

import json
import re

import pytest
import time_machine
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from accounts.models import Member
from accounts.roles import Role
from custody import vaults
from custody.models import object_key
from decisions.models import Decision
from notices import tasks
from notices.models import Approval, AuthorityGrant, Notice, NoticeSettings, Phrase, ReviewRequest
from notices.packs import packs
from notices.phrasebook_csv import COLUMNS
from tests.cases import each_case
from tests.notices.conftest import approve, done, drafted, fill_in_names, warnings_of
from tests.notices.drafts import sample
from tests.notices.test_back_office import do, page
from tests.notices.test_back_office_review import text
from tests.notices.test_loop import tell
from tests.notices.test_review_requests import ask, offering, reconsider
from tests.people import add_person, confirmed
from tests.people import signed_in as signed_in_
from tests.support.unguarded import unguarded

__all__ = ["offering"]
pytestmark = pytest.mark.django_db

PUT, IMPORT, PHRASES = (f"/admin/notices/phrase/{action}" for action in ("put/", "import/", ""))
GRANT, SETTINGS = "/admin/notices/authoritygrant/grant/", "/admin/notices/noticesettings/"
PHRASE = {"language": "en", "key": "R01", "sentence": "Income is too low.", "owner": "Credit", "approved_version": "3"}
HEAD = ",".join(COLUMNS)


@pytest.fixture
def owner(signed_in):
    return signed_in(Role.OWNER)


@pytest.fixture
def approver(organization) -> Member:
    return add_person(organization, Role.APPROVER)


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


def test_an_invalid_phrase_is_refused_at_its_field_and_the_input_stays(owner):
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
    assert body.index("may not change how notices are made") < body.index("<textarea"), "the reason comes first"


@each_case(
    ("changes", "message"),
    [
        ({"language": "xx"}, "xx is not one of the available choices"),
        ({"sentence": " "}, "Give a sentence or a label, or withhold the field."),
    ],
)
def test_a_phrase_that_no_draft_would_use_is_refused(owner, changes, message):
    answer = owner.submit(PUT, **{**PHRASE, **changes})
    assert (answer.status_code, message in text(answer)) == (422, True)
    assert not Phrase.objects.exists()


def test_a_phrase_is_a_sentence_or_a_label_or_withheld(owner):
    for key, words in (("a", {"label": "Income"}), ("b", {"withheld": "on"}), ("c", {"sentence": "Income."})):
        assert owner.submit(PUT, language="de", key=key, **words).status_code == 302
    assert "a de Income b de withheld c de Income." in text(owner.get(PHRASES))


def send(browser, table: str | bytes):
    body = table.encode() if isinstance(table, str) else table
    file = SimpleUploadedFile("phrases.csv", body, content_type="text/csv")
    return browser.submit(IMPORT, file=file)


def test_a_phrase_table_is_imported_as_a_whole(owner):
    table = f'\ufeff{HEAD}\r\nen,R01,Größe.,,no,,\r\nde,R01,"Ein, Satz.\nZwei.",,,,\r\n'
    answer = send(owner, table)
    assert answer.status_code == 302
    assert {(p.language, p.sentence) for p in Phrase.objects.all()} == {("en", "Größe."), ("de", "Ein, Satz.\nZwei.")}
    assert "2 phrases taken." in owner.get(PHRASES).content.decode()


@each_case(
    ("table", "message"),
    [
        (f"{HEAD}\nen,R01,Fine.,,,,\nen,R02,Not fine.,,perhaps,,\n", "Line 3: withheld is yes, no or empty."),
        (f"{HEAD}\nen,R01,Fine.,,,,\nen,R01,Again.,,,,\n", "Line 3: this key is there twice in this language."),
        ("language,key\nen,R01\n", "Line 2: the columns are language, key"),
        (f"{HEAD}\nen,,No key.,,,,\n", "Line 2: key: This field cannot be blank."),
        (f"{HEAD}\nxx,R01,Fine.,,,,\n", "Line 2: language: Notices are written in de, en, fr."),
        (f"{HEAD}\nen,R01,,,,Credit,1\n", "Line 2: sentence: Give a sentence or a label, or withhold the field."),
        (f'{HEAD}\nen,R01,"open,,,,\n', "This is no CSV table"),
        (b"\xff\xfe\x00\x00", "The file is not UTF-8 text."),
        ("", "The submitted file is empty."),
        (f"{HEAD}\n" + "x" * settings.FILE_UPLOAD_MAX_MEMORY_SIZE, "Choose a file of less than 1 MiB."),
    ],
)
def test_an_invalid_phrase_table_names_the_row_and_imports_nothing(owner, table, message):
    answer = send(owner, table)
    assert (answer.status_code, message in text(answer)) == (422, True), text(answer)[-600:]
    assert not Phrase.objects.exists()


# ── grants ──


def test_authority_is_granted_and_revoked_and_its_approvals_remain(api, notice, owner, signed_in):
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


def test_grants_show_dates_alike_and_the_label_of_the_granter(organization, owner):
    member = add_person(organization, Role.APPROVER)
    owner.submit(GRANT, member=str(member.pk), authority="any", valid_from="2026-01-01", valid_to="2099-12-31")
    own = reverse("admin:notices_authoritygrant_change", args=[AuthorityGrant.objects.get().pk])
    listed = text(owner.get("/admin/notices/authoritygrant/"))
    assert "any all 1 Jan 2026 31 Dec 2099 owner@example-bank.example" in listed
    assert "Valid to 31 Dec 2099" in text(owner.get(own))
    assert "Granted by owner@example-bank.example" in text(owner.get(own))


@each_case(
    ("changes", "message"),
    [
        ({"valid_to": "2025-12-31"}, "The grant ends before it begins."),
        ({"valid_from": "soon"}, "Enter a valid date."),
        ({"authority": ""}, "This field is required."),
        ({"packs": "nonesuch"}, "nonesuch is not one of the available choices."),
        ({"member": "0"}, "not one of the available choices"),
    ],
)
def test_an_invalid_grant_is_refused_and_keeps_the_input(approver, owner, changes, message):
    entered = {"member": str(approver.pk), "authority": "any", "valid_from": "2026-01-01", "evidence": "Kept here"}
    answer = owner.submit(GRANT, **{**entered, **changes})
    assert (answer.status_code, message in text(answer)) == (422, True), text(answer)[-600:]
    assert "Kept here" in text(answer)
    assert not AuthorityGrant.objects.exists()


def test_a_member_cannot_grant_authority_to_themselves(owner):
    me = Member.objects.get(user__email="owner@example-bank.example")
    answer = owner.submit(GRANT, member=str(me.pk), authority="any", valid_from="2026-01-01")
    assert (answer.status_code, "You cannot grant authority to yourself" in text(answer)) == (422, True)


# ── settings, packs and the report ──


def test_settings_are_saved_with_the_names_that_the_packs_need(owner):
    entered = {"default_pack": "us_ecoa_fcra", "at_risk_days": "3", "text_creditor_name": "Example Credit Inc."}
    assert confirmed(owner).submit(SETTINGS, **entered, require_grants="on").status_code == 302
    made = NoticeSettings.objects.get()
    assert (made.default_pack, made.at_risk_days, made.require_grants) == ("us_ecoa_fcra", 3, True)
    assert made.placeholders == {"creditor_name": "Example Credit Inc."}
    assert owner.submit(SETTINGS, **entered).status_code == 302
    assert set(NoticeSettings.objects.get().loosenings) == {"require_grants"}, "a box that is not ticked is not sent"


@each_case(
    "changes", [{"default_pack": "nonesuch"}, {"at_risk_days": "-1"}, {"at_risk_days": ""}, {"text_contact": "a\x00b"}]
)
def test_invalid_settings_are_refused_and_keep_the_input(owner, changes):
    entered = {"default_pack": "general", "at_risk_days": "3", "text_creditor_name": "Typed Inc."}
    answer = owner.submit(SETTINGS, **{**entered, **changes})
    assert (answer.status_code, 'value="Typed Inc."' in answer.content.decode()) == (422, True)
    assert not NoticeSettings.objects.exists()


@each_case("pack_id", sorted(packs()))
def test_every_pack_is_shown_with_all_its_elements(owner, pack_id):
    pack = packs()[pack_id]
    answer = owner.get(reverse("admin:notice-pack", args=[pack_id]))
    page_text = text(answer)
    words = pack.text(pack.languages[0])
    for element in pack.elements:
        assert words.labels[element.id] in page_text
        assert element.citation in page_text
    assert pack.digest in page_text
    assert words.framework in text(owner.get(reverse("admin:notice-packs")))


@each_case(
    ("day", "pack_id", "status"),
    [
        ("2026-11-20", "us_ca_admt", "enacted, in force from 1 Jan 2027"),
        ("2027-01-01", "us_ca_admt", "in force since 1 Jan 2027"),
        ("2026-11-20", "us_ecoa_fcra", "in force since 1 Jan 2022"),
        ("2026-11-20", "eu_ai_act_86", "enacted, in force from 2 Dec 2027"),
        ("2026-11-20", "general", "a policy, no law, from 1 Jan 2026"),
    ],
)
def test_the_date_decides_whether_a_law_is_shown_as_in_force(approver, day, pack_id, status):
    with time_machine.travel(f"{day}T00:00:00Z"):
        browser = signed_in_(approver.user)
        assert f"Status {status} Languages" in text(browser.get(reverse("admin:notice-pack", args=[pack_id])))
        assert status in text(browser.get(reverse("admin:notice-packs")))


def test_a_member_who_may_not_change_settings_reads_why_first(signed_in):
    body = signed_in(Role.EDITOR).get(SETTINGS).content.decode()
    assert body.index("may not change how notices are made") < body.index('id="id_default_pack"')


def test_an_unknown_pack_is_not_found(owner):
    assert owner.get(reverse("admin:notice-pack", args=["nonesuch"])).status_code == 404


def test_the_report_counts_by_pack_and_names_unverified_authority(api, notice, approved, owner):
    Notice.objects.update(due_at="2020-01-01T00:00Z")
    page_text = text(owner.get(reverse("admin:notice-report")))
    assert "Own policy 1 0 0 1 1" in page_text
    assert "Reviewer 7 as credit officer , asserted by key" in page_text


# ── review requests ──


@pytest.fixture
def asked(api, offering) -> ReviewRequest:
    return ask(api, offering, message="Line one.\n<b>Line two.</b>", email="person@example.com")


def test_a_request_shows_the_person_s_words_and_is_closed_with_a_reason(asked, signed_in):
    browser = signed_in(Role.EDITOR)
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    body = browser.get(address).content.decode()
    assert "Line one.<br>&lt;b&gt;Line two.&lt;/b&gt;" in body
    close = reverse("admin:close-review-request", args=[asked.pk])
    answer = browser.submit(address, close, reason=" ")
    assert (answer.status_code, "Say why" in text(answer)) == (422, True)
    assert browser.submit(address, close, reason="Taken back by letter.").status_code == 302
    asked.refresh_from_db()
    assert asked.closed_because == "Taken back by letter."
    assert "Taken back by letter." in text(browser.get(address))
    assert close not in browser.get(address).content.decode()


def test_a_request_waits_for_the_outcome_letter_of_its_reconsideration(api, asked, signed_in):
    browser = signed_in(Role.EDITOR)
    requests = "/admin/notices/reviewrequest/"
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    assert f"R-{asked.pk}" in text(browser.get(requests))
    answer = reconsider(api)
    for query in ({}, {"state": "to_be_told"}):
        assert f"R-{asked.pk}" in text(browser.get(requests, query))
    assert "State to be told" in text(browser.get(address))
    tell(api, answer)
    assert "No person is waiting for an answer." in text(browser.get(requests))
    assert f"R-{asked.pk}" in text(browser.get(requests, {"state": "answered"}))
    assert "State answered" in text(browser.get(address))


def test_an_answered_request_leads_to_the_reconsideration_and_to_the_notice_about_it(api, asked, signed_in):
    browser = signed_in(Role.EDITOR)
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    assert "Draft the letter" not in text(browser.get(address))
    answer = Decision.objects.get(decision_id=reconsider(api)["decision_id"])
    reconsider(api, rationale="A second one is not the answer.")
    body = browser.get(address).content.decode()
    assert reverse("admin:decisions_decision_change", args=[answer.pk]) in body
    assert "The person does not know the outcome yet" in body
    entered = dict(re.findall(r'<input type="hidden" name="(review_request)" value="(\w+)">', body))
    (pack,) = re.findall(r'<option value="(\w+)" selected>', body)
    made = browser.submit(address, reverse("admin:draft-notice", args=[answer.pk]), pack=pack, **entered)
    notice = Notice.objects.get(decision=answer)
    assert (notice.pack, notice.language) == ("general", "en")
    assert made["Location"] == page({"notice_id": notice.pk})
    body = browser.get(address).content.decode()
    assert page({"notice_id": notice.pk}) in body
    assert "The person does not know" not in body


def test_the_outcome_notice_goes_to_the_recipient_of_the_first_letter(api, asked, signed_in):
    recipient = {"name": "Avery Example", "address": ["1 Example Street"]}
    Notice.objects.filter(pk=asked.notice_id).update(recipient=recipient)
    drafted(api, recipient={"name": "Another Person"})
    answer = Decision.objects.get(decision_id=reconsider(api)["decision_id"])
    address = reverse("admin:notices_reviewrequest_change", args=[asked.pk])
    signed_in(Role.EDITOR).submit(address, reverse("admin:draft-notice", args=[answer.pk]), pack="general")
    # The letter had no email address, so the one in the request is used.
    assert Notice.objects.get(decision=answer).recipient == {**recipient, "email": "person@example.com"}


def test_the_federal_agencies_of_credit_notices_are_offered_and_another_can_be_entered(owner):
    body = owner.get(SETTINGS).content.decode()
    (offered,) = re.findall(r'<datalist id="offered_agency_name_and_address">(.*?)</datalist>', body)
    assert offered.count("<option ") == len(packs()["us_ecoa_fcra"].choices["agency_name_and_address"])
    assert 'list="offered_agency_name_and_address"' in body
    entered = {
        "default_pack": "general",
        "at_risk_days": "3",
        "text_agency_name_and_address": "Regional office, Denver",
    }
    assert owner.submit(SETTINGS, **entered).status_code == 302
    assert NoticeSettings.objects.get().placeholders["agency_name_and_address"] == "Regional office, Denver"


def test_a_request_shows_its_deadline_with_law_and_calculation(api, signed_in):
    record = json.loads(sample("synthetic-hiring-03"))
    since_the_law = {**record, "decision_id": "hiring-2027", "decided_at": "2027-01-20T09:00:00Z"}
    done(api.ingest(since_the_law))
    fill_in_names(api, "us_ca_admt")
    draft = drafted(api, "hiring-2027")
    notice = done(approve(api, draft, acknowledge=warnings_of(api, draft)))
    with time_machine.travel("2027-02-01T12:00Z"):
        row = ask(api, notice, email="person@example.com")
    browser = signed_in(Role.EDITOR)
    page_text = text(browser.get(reverse("admin:notices_reviewrequest_change", args=[row.pk])))
    assert f"1 Feb 2027, 12:00 UTC . The page showed the person the reference R-{row.pk}." in page_text
    assert "The confirming email is waiting to be sent." in page_text
    assert "Answer due 18 Mar 2027 by 11 CCR 7021(b) (rule): 45 days after February 1, 2027" in page_text
    assert "Acknowledgement due 16 Feb 2027 by 11 CCR 7021(a) (guidance): 10 business days after" in page_text
    assert f"R-{row.pk} in " in text(browser.get("/admin/notices/reviewrequest/"))


def test_a_request_about_a_record_that_cannot_be_read_is_shown_without_deadlines(asked, signed_in):
    record = asked.notice.decision.record
    with unguarded():
        vaults.current().delete(object_key(record.organization_id, record.pk))
    answer = signed_in(Role.EDITOR).get(reverse("admin:notices_reviewrequest_change", args=[asked.pk]))
    assert (answer.status_code, "Line one." in text(answer)) == (200, True)


def test_the_page_of_a_request_does_not_claim_a_mail_that_was_refused(api, offering, owner, request):
    smtp = request.getfixturevalue("smtp")  # not before the owner has signed in by mail
    smtp.refused = {"mistyped@home.example"}
    asked = ask(api, offering, email="mistyped@home.example")
    tasks.acknowledge_requests()
    shown = owner.get(reverse("admin:notices_reviewrequest_change", args=[asked.pk])).content.decode()
    assert "the mail server refuses the address" in shown
    assert "Confirmed by email" not in shown
