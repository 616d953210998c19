"""Notices after the records of their family are disposed of, and the responses about them."""

import json

import pytest
from django.core.cache import cache
from django.test import Client

from accounts import callers, mail
from config import personal_data
from config.personal_data import Fate
from custody.models import Entry, WaitingObject
from custody.selectors import Disposed
from decisions.models import Decision
from notices import selectors, services, tasks
from notices.back_office import notice_report
from notices.models import (
    Approval,
    Contributor,
    Delivery,
    Notice,
    NoticeRevision,
    ReviewRequest,
    SealedNotice,
    StoredPdf,
)
from notices.packs import packs
from notices.services import delivery as deliveries
from notices.services import sealing
from tests.disposals import dispose_of
from tests.notices.conftest import RECORD, approve, done, drafted, edit, exempt, send, step, stored, warnings_of
from tests.notices.test_review_requests import ask
from tests.people import Browser
from tests.reconsiderations.conftest import reconsider
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

MARK = "canary-8Hd3kQ"
ADDRESS = f"{MARK}@home.example"
RECIPIENT = {"name": f"{MARK} Person", "address": f"{MARK} Street", "email": ADDRESS, "reference": f"{MARK}-7"}


@pytest.fixture(autouse=True)
def _nothing_is_counted_yet():
    cache.clear()
    yield
    cache.clear()


def lived(api, decision_id="loan-1"):
    """Return a finished notice with a mark in every text of its life."""
    done(api.ingest(RECORD | {"decision_id": decision_id}))
    notice = drafted(api, decision_id, recipient=RECIPIENT)
    done(edit(api, notice, title=MARK, human_review_available=True))
    done(exempt(api, notice, inputs=f"{MARK} none"))
    done(step(api, notice, "submit"))
    done(step(api, notice, "request-changes", {"reason": f"{MARK} is wrong"}))
    done(approve(api, notice, comment=MARK, approver=MARK, authority=MARK, acknowledge=warnings_of(api, notice)))
    posted = done(step(api, notice, "deliveries", {"channel": "post", "address": MARK, "reference": MARK}))
    done(step(api, notice, f"deliveries/{posted['delivery_id']}/return", {"reason": f"{MARK} moved"}))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    asked = ask(api, notice, message=MARK, email=ADDRESS)
    done(send(api, "POST", f"review-requests/{asked.pk}/close", {"reason": f"{MARK} called"}))
    return notice


@pytest.fixture
def notice(api):
    return make_once("lived", lambda: lived(api))


@pytest.fixture
def row(api, notice):
    """Return the row of the notice, read before the disposal."""
    return stored(api, notice)


@pytest.fixture
def disposed(api, row):
    return dispose_of(api.organization)


def test_rows_stay_for_reports_and_words_go(api, notice, disposed):
    row = Notice.with_disposed.get(pk=notice["notice_id"])
    assert (row.recipient, row.created_by, row.holder) == ({}, "", None)
    assert (row.state, row.pack, row.language) == ("delivered", "general", "en")
    for revision in NoticeRevision.objects.all():
        assert (revision.content, revision.cited, revision.not_applicable, revision.digest) == ({}, {}, {}, "")
    approval = Approval.objects.get()
    assert (approval.approver, approval.authority, approval.comment, approval.sender) == ("", "", "", None)
    for delivery in Delivery.objects.all():
        assert (delivery.address, delivery.reference, delivery.returned_because) == ("", "", "")
        assert delivery.channel
    assert not ReviewRequest.objects.exists()


def test_each_column_is_emptied_or_its_row_deleted_as_it_declares(api, notice, row):
    """All models are checked, so that a new column cannot be forgotten."""
    done(reconsider(api))
    with unguarded():
        Decision.objects.update(system_version=MARK, subject_reference=MARK)
    Notice.objects.update(holder=api.organization.members.first())
    with unguarded():
        Approval.objects.update(sender=MARK, signatory={"name": MARK})
    Delivery.objects.update(letter_digest=MARK)
    ReviewRequest.objects.update(due_clock=MARK)
    Contributor.objects.update(mail=ADDRESS)
    StoredPdf.objects.create(notice=row, paper="a4", digest=MARK, file=MARK.encode())
    entry = Entry.objects.get(pk=row.decision_id)
    WaitingObject.objects.create(
        record=entry, organization_id=entry.organization_id, queued_at=entry.received_at, body=MARK.encode()
    )

    def filled(model, columns):
        rows = list(model._base_manager.values(*columns))
        return {name for name in columns for values in rows if values[name] not in ("", {}, None, b"")}

    emptied = {model: personal_data.of(model, Fate.EMPTIED) for model in personal_data.declared()}
    deleted = {model: personal_data.of(model, Fate.DELETED) for model in personal_data.declared()}
    going = [(model, columns) for model, columns in [*emptied.items(), *deleted.items()] if columns]
    for model, columns in going:
        assert filled(model, columns) == set(columns), model
    dispose_of(api.organization)
    for model, columns in going:
        assert filled(model, columns) == set(), model


def test_reports_keep_their_counts(api, notice, row):
    def counted():
        report = notice_report.notices(api.organization)
        return report["lines"], [(bar.label, bar.value) for bar in report["charts"][0].bars]

    before = counted()
    dispose_of(api.organization)
    assert counted() == before
    assert not notice_report.notices(api.organization)["unverified"]


def test_lists_queues_and_due_notices_do_not_show_it(api, notice, disposed):
    assert done(api.get("/v1/notices"))["items"] == []
    assert done(api.get("/v1/review-requests"))["items"] == []
    assert not selectors.attention(api.organization.pk).anything


def test_every_request_about_it_answers_with_the_disposal(api, notice, disposed):
    gone = {str(old.pk) for old in disposed}
    for suffix in ("", "/checklist", "/history", "/letter", "/deliveries"):
        answer = api.get(f"/v1/notices/{notice['notice_id']}{suffix}")
        assert answer.status_code == 410, suffix
        assert answer.json()["disposal"]["record_id"] in gone
    for answer in (
        edit(api, notice, title="New"),
        exempt(api, notice, inputs="none"),
        approve(api, notice),
        step(api, notice, "withdraw"),
        step(api, notice, "submit"),
        step(api, notice, "versions"),
        step(api, notice, "deliveries", {"channel": "hand"}),
        send(api, "PUT", f"notices/{notice['notice_id']}/recipient", {"recipient": {}}),
    ):
        if answer.status_code != 404:  # an unknown path answers 404
            assert answer.status_code == 409, answer.content
            assert set(answer.json()) == {"detail", "disposal"}


def test_another_organization_learns_nothing(other_api, notice, disposed):
    assert other_api.get(f"/v1/notices/{notice['notice_id']}").status_code == 404


def test_a_draft_that_is_sent_again_with_its_key_does_not_come_back(api):
    done(api.ingest(RECORD))

    def draft():
        body, headers = json.dumps({"recipient": RECIPIENT}), {"Idempotency-Key": "draft-1"}
        path = "/v1/decisions/loan-1/notices"
        return api.client.post(path, body, content_type="application/json", headers=headers)

    notice = done(draft())
    done(step(api, notice, "withdraw"))
    dispose_of(api.organization)
    again = draft()
    assert again.status_code == 409
    assert MARK not in again.content.decode()


def test_a_delivery_that_is_sent_again_with_its_key_does_not_come_back(api, notice):
    def deliver():
        body, headers = json.dumps({"channel": "post", "address": MARK}), {"Idempotency-Key": "delivery-1"}
        path = f"/v1/notices/{notice['notice_id']}/deliveries"
        return api.client.post(path, body, content_type="application/json", headers=headers)

    done(deliver())
    dispose_of(api.organization)
    again = deliver()
    assert again.status_code == 409
    assert MARK not in again.content.decode()


# ── the public page ──


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_its_public_page_shows_the_remaining_proof_and_takes_no_request(api, row, disposed, language):
    Notice.with_disposed.update(language=language)
    answer = Browser().get(f"/n/{row.address}")
    text = answer.content.decode()
    assert answer.status_code == 200
    sealed = SealedNotice.objects.get()
    for passage in (api.organization.name, sealed.letter_digest, sealed.record.key_id, str(sealed.pk), ">3</dd>"):
        assert passage in text
    assert MARK not in text
    assert "<form" not in text
    assert Client().post(f"/n/{row.address}", {"code": "AAAA-AAAA"}).status_code == 410
    assert not ReviewRequest.objects.exists()


def test_its_public_page_confirms_nothing_if_a_signature_does_not_verify(api, row, disposed):
    with unguarded():
        Entry.objects.filter(pk=row.sealed.pk).update(signature=bytes(64))
    answer = Browser().get(f"/n/{row.address}")
    assert answer.status_code == 500
    assert "Cannot be checked" in answer.content.decode()
    assert row.sealed.letter_digest not in answer.content.decode()


def test_the_page_of_a_withdrawn_letter_says_that_too(api, notice, row):
    done(step(api, notice, "withdraw"))
    dispose_of(api.organization)
    assert "no longer valid" in Browser().get(f"/n/{row.address}").content.decode()


def test_the_digest_of_a_letter_stays_only_while_the_letter_held_random_salts(api):
    done(api.ingest(RECORD))
    notice = drafted(api)
    done(approve(api, notice))
    done(step(api, notice, "deliveries", {"channel": "hand"}))
    address = stored(api, notice).address
    with unguarded():
        NoticeRevision.objects.update(cited={})
    dispose_of(api.organization)
    assert SealedNotice.objects.get().letter_digest == ""
    assert Browser().get(f"/n/{address}").status_code == 200


# ── unfinished work ──


def test_a_caller_with_a_stale_row_changes_nothing(api, notice, row):
    caller = callers.system(api.organization.pk)
    decision = row.decision
    dispose_of(api.organization)
    for change in (
        lambda: services.edit(caller=caller, notice=row, changes={"title": MARK}),
        lambda: services.submit(caller=caller, notice=row),
        lambda: services.withdraw(caller=caller, notice=row),
        lambda: services.new_version(caller=caller, notice=row),
        lambda: services.set_recipient(caller=caller, notice=row, recipient=RECIPIENT),
        lambda: services.deliver(caller=caller, notice=row, channel=Delivery.Channel.HAND),
        lambda: services.approve(caller=caller, notice=row, approver="A", authority="B"),
        lambda: services.draft(caller=caller, decision=decision, pack=packs()["general"], recipient=RECIPIENT),
        lambda: services.request_review(notice=row, code="AAAA-AAAA", message=MARK),
    ):
        with pytest.raises(Disposed):
            change()
    assert Notice.with_disposed.count() == 1
    assert NoticeRevision.objects.exclude(content={}).count() == 0


def test_mails_restored_from_a_backup_end_quietly_at_the_disposal(api, row, capfd):
    """After a restore, the journal disposes of what still waits."""
    Delivery.objects.create(notice=row, channel="email", address=ADDRESS, recorded_by="x")
    ReviewRequest.objects.create(
        organization=api.organization, notice=row, email=ADDRESS, received_at=row.created_at, handled_at=None
    )
    Approval.objects.update(attempts=0)
    dispose_of(api.organization)
    capfd.readouterr()
    tasks.deliver_letters()
    tasks.seal_approved()
    tasks.remind()
    assert "error" not in "".join(capfd.readouterr())
    assert not Delivery.objects.filter(handled_at=None).exists()


def test_a_mail_whose_row_was_read_before_is_not_sent(api, row):
    waiting = Delivery.objects.create(notice=row, channel="email", address=ADDRESS, recorded_by="x")
    dispose_of(api.organization)
    assert deliveries._mail(waiting) == mail.NOT_SENT


def test_an_approved_notice_that_was_not_sealed_yet_is_not_sealed_any_more(api, row):
    approval = row.approval
    with unguarded():
        SealedNotice.objects.filter(notice=row).delete()
    entries = Entry.objects.count()
    dispose_of(api.organization)
    assert services.seal_approved(notice_id=row.pk) == 0
    with pytest.raises(Disposed):
        sealing._seal(sealing._approved(approval))
    assert Entry.objects.count() == entries
