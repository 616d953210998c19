"""Custody in the back office: the vault, the records that wait for it, and the keys."""

import re
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives import serialization

from accounts.roles import Role
from custody.models import Entry, Key
from tests.custody.faulty_disk import full_disk
from tests.notices.conftest import RECORD, approve, done, drafted
from tests.reconsiderations.conftest import reconsider
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db
ENTRIES = "/admin/custody/entry/"


def test_the_list_shows_the_vault_and_the_records_that_wait_for_it(api, other_api, filesystem_vault, signed_in):
    browser = signed_in(Role.AUDITOR)
    api.ingest({"decision_id": "stored"})
    with full_disk(filesystem_vault):
        api.ingest({"decision_id": "waiting"})
        other_api.ingest({"decision_id": "of others"})
    with unguarded():
        Entry.objects.filter(state=Entry.State.RESERVED).update(received_at=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    answer = browser.get(ENTRIES)
    state = answer.context["custody"]
    assert (answer.context["vault"], state.stored, state.waiting) == ("filesystem", 1, 1)
    assert "2 Jan 2026, 03:04 UTC" in answer.content.decode()
    waiting = browser.get(ENTRIES, {"state": "reserved"}).context["cl"].result_list
    assert [entry.state for entry in waiting] == ["reserved"]


def test_the_page_says_none_if_no_record_waits(api, signed_in):
    api.ingest({"decision_id": "x"})
    assert "none" in signed_in(Role.AUDITOR).get(ENTRIES).content.decode().partition("Not yet finalised</dt>")[2][:40]


def test_an_entry_links_to_its_decision_or_notice(api, signed_in):
    api.ingest(RECORD)
    reconsider(api, RECORD["decision_id"])
    notice = done(approve(api, drafted(api)))
    browser = signed_in(Role.AUDITOR)
    for entry in Entry.objects.all():
        shown = browser.get(f"{ENTRIES}{entry.pk}/change/").content.decode()
        (link,) = re.findall(r'<p class="links"><a href="(.*?)">', shown)
        about = ("notices/notice", notice["notice_id"]) if entry.kind == "notice" else ("decisions/decision", entry.pk)
        assert link == "/admin/{}/{}/change/".format(*about)
    assert Entry.objects.count() == 3


def test_only_the_public_half_of_a_signing_key_can_be_downloaded(api, other_api, signed_in):
    api.ingest({"decision_id": "x"})
    other_api.ingest({"decision_id": "x"})
    browser = signed_in(Role.AUDITOR)
    for key in Key.objects.filter(organization=api.organization):
        answer = browser.get(f"/admin/custody/key/{key.pk}/public/")
        if key.purpose == Key.Purpose.SIGNING:
            assert serialization.load_pem_public_key(answer.content)
            assert answer["Content-Disposition"].startswith('attachment; filename="signing-key-')
        else:
            assert answer.status_code == 404
    other = Key.objects.get(organization=other_api.organization, purpose=Key.Purpose.SIGNING)
    assert browser.get(f"/admin/custody/key/{other.pk}/public/").status_code == 404
