"""No notice rests on a forged record, and only sealed statements are confirmed about a letter."""

import hashlib
import re
from datetime import UTC, datetime
from itertools import cycle

import pytest

from custody import vaults
from custody.models import Entry
from decisions.models import Decision
from notices.models import Approval, Notice, NoticeRevision, SealedNotice
from notices.services import seal_approved
from tests.custody.forging import FORGERIES
from tests.notices.conftest import RECORD, approve, drafted, edit, send, shown, stored
from tests.people import Browser
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.once]


def in_turn(*vaults_: str) -> pytest.MarkDecorator:
    """Parametrize every forgery, with the vaults in turn: all vaults open records the same way."""
    pairs = list(zip(cycle(vaults_), FORGERIES, strict=False))
    return pytest.mark.parametrize(("each_vault", "forgery"), pairs, indirect=["each_vault"])


def letter(api, notice, form):
    return api.get(f"/v1/notices/{notice['notice_id']}/letter", format=form)


def public_page(api, notice):
    return Browser().get(f"/n/{stored(api, notice).address}")


@in_turn("database", "filesystem")
def test_no_notice_about_a_forged_record_is_drafted_edited_or_approved(api, each_vault, notice, forgery):
    FORGERIES[forgery](Decision.objects.get().record)
    for answer in (
        send(api, "POST", "decisions/loan-1/notices"),
        edit(api, notice, title="New"),
        approve(api, notice),
    ):
        assert answer.status_code == 500
        assert "damaged" in answer.json()["detail"]
    assert (Notice.objects.count(), NoticeRevision.objects.count(), Approval.objects.count()) == (1, 1, 0)


@in_turn("filesystem", "database")
def test_a_forged_notice_is_given_out_in_no_form_and_never_confirmed(api, each_vault, approved, forgery):
    sealed = SealedNotice.objects.select_related("record").get()
    FORGERIES[forgery](sealed.record)
    for form in ("html", "text", "proof", "pdf"):
        assert letter(api, approved, form).status_code == 500
    page = public_page(api, approved)
    assert page.status_code == 500
    assert "In force" not in page.content.decode()
    assert sealed.letter_digest not in page.content.decode()
    assert shown(api, approved)["letter_digest"] is None


def test_date_and_digest_of_a_letter_are_those_that_were_sealed_whatever_the_rows_say(api, approved):
    proof = letter(api, approved, "proof").content
    text, page = letter(api, approved, "text").content, public_page(api, approved).content
    with unguarded():
        Approval.objects.update(created_at=datetime(2020, 2, 3, tzinfo=UTC))
    with unguarded():
        SealedNotice.objects.update(letter_digest="0" * 64)
    assert shown(api, approved)["letter_digest"] == hashlib.sha256(proof).hexdigest() == approved["letter_digest"]
    assert letter(api, approved, "text").content == text
    assert without_token(public_page(api, approved).content) == without_token(page)
    assert b"2020" not in letter(api, approved, "html").content


def test_the_page_shows_the_sealed_rules_and_language(api, approved):
    page = public_page(api, approved).content
    with unguarded():
        NoticeRevision.objects.update(content={"framework": "Some other law", "human_review_available": False})
    changed = public_page(api, approved).content
    assert b"Some other law" not in changed
    assert without_token(changed) == without_token(page)


def without_token(page: bytes) -> bytes:
    return re.sub(rb'name="csrfmiddlewaretoken" value="\w+"', b"", page)


def test_a_letter_about_one_decision_is_not_shown_as_about_another(api, approved):
    api.ingest(RECORD | {"decision_id": "loan-2"})
    Notice.objects.update(decision=Decision.objects.get(decision_id="loan-2"))
    assert letter(api, approved, "text").status_code == 500
    assert public_page(api, approved).status_code == 500


def test_an_approval_whose_record_is_forged_before_it_is_sealed_is_not_sealed(api, notice, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("notices.services.review.seal_approved", lambda **_: 0)
        approve(api, notice)
    FORGERIES["another_tree"](Decision.objects.get().record)
    assert seal_approved() == 0
    assert not SealedNotice.objects.exists()
    assert Entry.objects.count() == 1
    assert len(list(vaults.current().list(f"{api.organization.id.hex}/records/"))) == 1


def test_a_new_draft_of_a_genuine_record_is_still_made(api, notice):
    assert drafted(api)["state"] == "draft"
