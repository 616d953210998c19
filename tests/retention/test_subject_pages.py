"""A page answers a person's access request. Its address, history and log never have the reference."""

import json
import re
import zipfile
from io import BytesIO

import pytest

from accounts.models import User
from accounts.roles import Role
from retention.back_office import subject_pages
from tests.custody.test_record_types import NOT_DELIVERED
from tests.notices.conftest import drafted
from tests.people import events, sign_in
from tests.reconsiderations.conftest import RAW
from tests.retention.test_subject_export import PERSON, hold, policy

pytestmark = pytest.mark.django_db

PAGE = "/admin/retention/policy/subject/"


@pytest.fixture
def owner(signed_in, api):
    api.ingest(RAW)
    return signed_in(Role.OWNER)


def test_the_page_shows_decisions_and_the_reasons_to_keep_them(owner, api):
    policy(api, 400)
    hold(api, filter={"subject_reference": PERSON})
    drafted(api, pack="us_ecoa_fcra")
    shown = owner.submit(PAGE, reference=PERSON, look="").content.decode()
    assert "loan-1" in shown
    assert re.search(r" [A-Z][a-z]{2} 2028", shown)
    assert "1002.12" in shown
    assert "Hold 1" in shown
    assert NOT_DELIVERED in shown
    assert events("subject.exported") == []


def test_the_download_has_both_files(owner):
    answer = owner.submit(PAGE, reference=PERSON, download="")
    assert answer["Content-Disposition"] == 'attachment; filename="subject.zip"'
    assert "no-store" in answer["Cache-Control"]
    packed = zipfile.ZipFile(BytesIO(answer.getvalue()))
    assert packed.namelist() == ["subject.json", "subject.html"]
    (family,) = json.loads(packed.read("subject.json"))["families"]
    assert family["records"]["decision"][0]["record"].encode() == RAW
    assert PERSON in packed.read("subject.html").decode()
    (event,) = events("subject.exported")
    assert event.actor_label == "owner@example-bank.example"


def test_the_reference_is_in_no_address_and_no_log(owner, capfd):
    assert PERSON not in owner.get(f"{PAGE}?reference=application+7").content.decode()
    owner.submit(PAGE, reference=PERSON, look="")
    owner.submit(PAGE, reference=PERSON, download="").getvalue()
    assert "application" not in capfd.readouterr().err


def test_a_reference_is_not_trimmed_on_the_page(owner, api):
    api.ingest(RAW.replace(b"loan-1", b"loan-2").replace(b"application 7", b" application 7 "))
    assert "loan-2" in owner.submit(PAGE, reference=" application 7 ", look="").content.decode()
    assert "loan-2" not in owner.submit(PAGE, reference="application 7", look="").content.decode()


@pytest.mark.parametrize("reference", ["", "x" * 257, "a\x00b"])
def test_an_unusable_reference_is_refused_on_the_page(owner, reference):
    answer = owner.submit(PAGE, reference=reference, look="")
    assert answer.status_code == 422


def test_without_decisions_the_page_offers_no_download(owner):
    shown = owner.submit(PAGE, reference="unknown", look="").content.decode()
    assert "No records under this reference." in shown
    assert 'name="download"' not in shown


def test_another_organizations_person_is_not_found(owner, other_api):
    other_api.ingest(RAW.replace(b"application 7", b"their customer"))
    assert "No records under this reference" in owner.submit(PAGE, reference="their customer", look="").content.decode()


def test_too_many_decisions_are_left_to_the_command(owner, api, monkeypatch):
    monkeypatch.setattr(subject_pages, "MAX_DECISIONS", 1)
    api.ingest(RAW.replace(b"loan-1", b"loan-2"))
    answer = owner.submit(PAGE, reference=PERSON, download="")
    assert "manage.py subject_export" in answer.content.decode()
    assert events("subject.exported") == []


def test_the_page_warns_about_records_that_name_another_person(owner, api):
    drafted(api, recipient={"reference": "the other applicant"})
    shown = owner.submit(PAGE, reference="the other applicant", look="").content.decode()
    assert "Records that name another person: 1." in shown


@pytest.mark.parametrize("role", [Role.EDITOR, Role.APPROVER])
def test_a_role_that_may_not_collect_gets_neither_page_nor_files(owner, signed_in, role):
    browser = signed_in(role)
    assert browser.get(PAGE).status_code == 403
    assert browser.submit("/account/sessions/", PAGE, reference=PERSON, look="").status_code == 403
    assert browser.submit("/account/sessions/", PAGE, reference=PERSON, download="").status_code == 403


def test_an_owner_without_a_second_factor_sees_why_they_may_not_collect(owner, api):
    api.organization.second_factor_required = True
    api.organization.save()
    assert "Sign in again" in owner.get(PAGE).content.decode()
    assert owner.submit(PAGE, reference=PERSON, download="").status_code == 403
    assert events("subject.exported") == []


def test_a_platform_operator_sees_the_page_and_collects_nothing(owner, api):
    runner = sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)
    assert runner.submit("/admin/", "/account/organization/", organization=str(api.organization.pk)).status_code == 302
    assert runner.get(PAGE).status_code == 200
    assert runner.submit(PAGE, reference=PERSON, download="").status_code == 403


def test_the_policy_page_links_to_the_access_request(owner):
    assert PAGE in owner.get("/admin/retention/policy/").content.decode()


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.AUDITOR])
def test_a_role_that_may_collect_downloads_the_files(owner, signed_in, role):
    browser = owner if role is Role.OWNER else signed_in(role)
    assert zipfile.is_zipfile(BytesIO(browser.submit(PAGE, reference=PERSON, download="").getvalue()))
