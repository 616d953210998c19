"""A notice whose record is destroyed: a clear fault where the record is needed, and nothing lost elsewhere.

Destroying a record keeps its rows and removes what opens it: the sealed object, or the key wrapped within it.
"""

import base64

import pytest

from custody import vaults
from custody.models import object_key
from custody.sealing import sealer
from decisions.models import Decision
from notices import services
from notices.models import Approval, Notice, NoticeRevision
from tests.notices.conftest import approve, done, drafted, edit, send, shown, step, warnings_of
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["the object", "the key"])
def destroy(request, api):
    """Destroy the record of `loan-1`."""

    def take_away() -> None:
        record = Decision.objects.get(decision_id="loan-1").record
        key = object_key(record.organization_id, record.pk)
        body = vaults.current().get(key)
        with unguarded():
            vaults.current().delete(key)
        if request.param == "the key":
            wrapped = sealer.unpack(body)[0].wrapped_dek
            nothing = base64.b64encode(bytes(len(wrapped)))
            vaults.current().put_new(key, body.replace(base64.b64encode(wrapped), nothing))

    return take_away


def test_no_notice_is_drafted_edited_or_approved(api, notice, destroy):
    destroy()
    for answer in (
        send(api, "POST", "decisions/loan-1/notices"),
        edit(api, notice, title="New"),
        edit(api, notice, main_factors=[{"statement": "A reason.", "source": "outcome.action"}]),
        approve(api, notice),
    ):
        assert answer.status_code == 500
        assert set(answer.json()) == {"detail"}
        assert "denied" not in answer.json()["detail"]
    assert (Notice.objects.count(), NoticeRevision.objects.count(), Approval.objects.count()) == (1, 1, 0)


def test_the_checklist_says_why_it_is_empty_and_words_lists_and_history_remain(api, notice, destroy):
    destroy()
    for suffix in ("", "/checklist"):
        seen = shown(api, notice, suffix)
        assert (seen["elements"], seen["citations"], seen["deadline"]) == ([], [], None)
        assert seen["problems"] == [seen["fault"]]
    assert shown(api, notice)["content"] == notice["content"]
    assert [row["notice_id"] for row in api.get("/v1/notices").json()["items"]] == [notice["notice_id"]]
    (revision,) = shown(api, notice, "/history")["revisions"]
    assert revision["content"] == notice["content"]


def test_a_letter_approved_before_keeps_its_proofs_and_is_delivered(api, approved, destroy, mailoutbox):
    path = f"/v1/notices/{approved['notice_id']}/letter"
    before = api.get(path, format="proof").content
    destroy()
    assert api.get(path, format="proof").content == before
    assert approved["content"]["title"] in api.get(path, format="text").content.decode()
    done(step(api, approved, "deliveries", {"channel": "email", "address": "person@home.example"}))
    assert services.deliver_letters() == 1
    assert len(mailoutbox) == 1


def test_a_notice_can_still_be_withdrawn(api, approved, destroy):
    destroy()
    assert done(step(api, approved, "withdraw"))["state"] == "withdrawn"


def test_notices_about_other_records_are_as_they_were(api, approved, destroy):
    api.ingest({"decision_id": "loan-2", "outcome": {"action": "denied"}})
    destroy()
    other = drafted(api, "loan-2")
    assert done(approve(api, other, acknowledge=warnings_of(api, other)))["state"] == "approved"
