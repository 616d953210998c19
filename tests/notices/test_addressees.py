"""Recipients: fields that change without a second approver stay short and change no approved letter."""

import json

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from custody import selectors as custody
from custody.models import Entry
from notices import services
from notices.errors import RecipientTooLong
from notices.letters.recipient import printed_fields
from notices.models import Approval, Delivery, Notice, Step
from tests.cases import each_case
from tests.notices.conftest import RECORD, acting, approve, done, drafted, refused, send, shown, step, stored
from tests.notices.test_back_office import do, page
from tests.support.kept_rows import make_once
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

LINE = "A line of eighty characters, as many as a line of an address has, and not more: "
assert len(LINE) == 80
LONGEST = {"name": "x" * 80, "address": ["y" * 80] * 7}
TOO_LONG = {
    "nine lines": {"name": "A. Person", "address": ["1 Example Street"] * 8},
    "nine lines in one text": {"name": "A. Person", "address": "\n".join("12345678")},
    "nine lines of a name": {"name": "\u2028".join("123456789")},
    "lines by every sign that ends one": {"address": "1\v2\f3\x1c4\x1d5\x856\u20287\u20298\r\n9"},
    "a line of 81": {"address": ["1 Example Street", "z" * 81]},
    "a name of 81": {"name": "z" * 81},
    "a reference of two lines": {"reference": "A-1\nYou have won."},
    "a reference of 257": {"reference": "z" * 257},
}
REFERENCE = {"name": "A. Person", "address": ["1 Example Street"], "reference": "A-1", "language": "en"}


def readdress(who, notice, recipient):
    return send(who, "PUT", f"notices/{notice['notice_id']}/recipient", {"recipient": recipient})


def text(api, notice) -> str:
    answer = api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text")
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def contact(api, address: str) -> None:
    done(send(api, "PUT", "notice-settings", {"default_pack": "general", "placeholders": {"contact": address}}))


@pytest.fixture
def recorded(api):
    make_once("recorded", lambda: done(api.ingest(RECORD)))
    return api


# ── the length of a recipient ──


@pytest.fixture
def draft(recorded) -> dict:
    return drafted(recorded)


@pytest.fixture
def member(organization):
    return acting(organization, Role.OWNER, "")


@each_case("case", TOO_LONG)
def test_a_recipient_that_is_longer_than_an_address_is_refused_and_not_repeated(recorded, draft, case):
    for answer in (
        send(recorded, "POST", "decisions/loan-1/notices", {"recipient": TOO_LONG[case]}),
        readdress(recorded, draft, TOO_LONG[case]),
    ):
        (problem,) = answer.json()["detail"]
        assert (answer.status_code, problem["loc"], problem["type"]) == (422, ["body", "recipient"], "value_error")
        assert "input" not in problem
        assert not any(word in answer.content.decode() for word in ("z" * 9, "Example Street", "won"))
    assert [notice.recipient for notice in Notice.objects.all()] == [{}]


@each_case("case", TOO_LONG)
def test_no_service_function_accepts_a_long_recipient(recorded, draft, member, case):
    with pytest.raises(RecipientTooLong):
        services.set_recipient(notice=stored(recorded, draft), recipient=TOO_LONG[case], caller=member)


def test_the_longest_address_is_taken_and_printed_whole(recorded):
    notice = drafted(recorded, recipient=LONGEST)
    assert text(recorded, notice).count("y" * 80) == 7
    assert done(approve(recorded, notice))["state"] == "approved"


def test_the_form_names_a_field_that_is_too_long_and_keeps_the_input(recorded, signed_in):
    notice, browser = drafted(recorded), signed_in(Role.EDITOR)
    many = "\r\n".join(f"line {number}" for number in range(9))
    answer = do(browser, notice, "recipient", recipient_address=many)
    assert answer.status_code == 422
    assert "8 lines of 80 characters" in answer.content.decode()
    assert "line 8" in answer.content.decode()
    assert Notice.objects.get().recipient == {}
    fits = "\r\n".join(f"line {number}" for number in range(8))
    assert do(browser, notice, "recipient", recipient_address=fits).status_code == 302


# ── recipients from before the limit ──


@pytest.fixture
def older(recorded) -> dict:
    """Return a draft from before recipients had a maximum length."""
    notice = drafted(recorded)
    Notice.objects.update(recipient={"name": "A. Person", "address": [LINE * 2] * 40, "reference": "r\n" * 300})
    return notice


def test_an_older_long_recipient_is_cut_in_the_letter_and_marked(recorded, older):
    for form in ("html", "text", "pdf"):
        assert recorded.get(f"/v1/notices/{older['notice_id']}/letter", format=form).status_code == 200
    fields = printed_fields(Notice.objects.get().recipient)
    assert [len(line) for line in fields["address"]] == [9, *[80] * 7]
    assert all(line.endswith("…") for line in fields["address"][1:])
    assert (len(fields["reference"]), fields["reference"][-1]) == (256, "…")


def test_an_older_long_recipient_blocks_approval_and_mail_until_shortened(recorded, older, signed_in):
    browser = signed_in(Role.APPROVER)
    assert "8 lines of 80 characters" in refused(approve(recorded, older))
    assert "8 lines of 80 characters" in browser.get(page(older)).content.decode()
    done(readdress(recorded, older, {"name": "A. Person", "email": "person@home.example"}))
    done(approve(recorded, older))
    Notice.objects.update(recipient={"name": LINE * 2, "email": "person@home.example"})
    assert "8 lines of 80 characters" in refused(step(recorded, older, "deliveries", {"channel": "email"}))
    done(readdress(recorded, older, {"name": "A. Person", "email": "person@home.example"}))
    done(step(recorded, older, "deliveries", {"channel": "email"}))
    assert Delivery.objects.count() == 1


# ── after the approval ──


@pytest.fixture
def sent(recorded) -> dict:
    return make_once("sent", lambda: done(approve(recorded, drafted(recorded, recipient=REFERENCE))))


@each_case("other", [{"reference": "A-2"}, {"reference": None}, {"language": 5}, {"remark": "Pay."}])
def test_only_name_and_address_change(recorded, sent, other):
    assert "only name, address" in refused(readdress(recorded, sent, REFERENCE | other))
    assert shown(recorded, sent)["recipient"] == REFERENCE
    assert not Step.objects.exists()


def test_existing_fields_of_a_recipient_cannot_be_removed(recorded, sent):
    refused(readdress(recorded, sent, {"name": "A. Person"}))


def test_the_audit_of_a_change_has_the_actor_and_no_address(recorded, sent, signed_in):
    editor = signed_in(Role.EDITOR, "editor@bank.example")
    done(readdress(editor, sent, REFERENCE | {"name": "Canary Person", "email": "canary@home.example"}))
    (recipient_step,) = shown(recorded, sent, "/history")["steps"]
    assert (recipient_step["kind"], recipient_step["by"], recipient_step["reason"]) == (
        "readdressed",
        "editor@bank.example",
        "email, name",
    )
    assert recipient_step["at"]
    event = AuditEvent.objects.get(verb="notice.recipient_set")
    assert (event.actor_label, event.detail) == ("editor@bank.example", {"changed": ["email", "name"]})
    assert "changed to whom the approved letter goes" in editor.get(page(sent)).content.decode()


def test_the_same_recipient_again_is_no_change(recorded, sent):
    done(readdress(recorded, sent, REFERENCE))
    assert not Step.objects.exists()


def test_the_form_changes_name_and_address_of_an_approved_notice(recorded, sent, signed_in):
    entered = {"recipient_name": "B. Person", "recipient_address": "2 Other Street", "recipient_reference": "A-1"}
    assert do(signed_in(Role.EDITOR), sent, "recipient", **entered).status_code == 302
    assert Notice.objects.get().recipient == REFERENCE | {"name": "B. Person", "address": ["2 Other Street"]}


# ── the sender's contact ──


def sealed(notice) -> dict:
    return json.loads(custody.opened(Entry.objects.get(pk=notice["custody_record_id"])).payload)


def test_the_contact_is_sealed_and_a_later_one_is_not_in_the_letter(recorded):
    contact(recorded, "1 Bank Street\nbank@bank.example")
    notice = done(approve(recorded, drafted(recorded)))
    before = text(recorded, notice)
    contact(recorded, "You have won.\n" * 40)
    assert text(recorded, notice) == before
    assert "1 Bank Street" in before
    assert sealed(notice)["letter"]["sender"] == "1 Bank Street\nbank@bank.example"


def test_the_contact_at_approval_is_sealed_even_if_custody_is_late(recorded, monkeypatch):
    contact(recorded, "1 Bank Street")
    monkeypatch.setattr("notices.services.review.seal_approved", lambda **_: 0)
    notice = done(approve(recorded, drafted(recorded)))
    monkeypatch.undo()
    contact(recorded, "You have won.")
    services.seal_approved()
    assert "1 Bank Street" in text(recorded, notice)
    assert "won" not in text(recorded, notice)


def test_a_contact_set_after_approval_is_not_in_the_letter(recorded):
    notice = done(approve(recorded, drafted(recorded)))
    before = text(recorded, notice)
    contact(recorded, "You have won.")
    assert text(recorded, notice) == before


def test_the_page_confirms_a_letter_after_a_change_of_the_contact(recorded, client):
    contact(recorded, "1 Bank Street")
    notice = done(approve(recorded, drafted(recorded)))
    address = f"/n/{stored(recorded, notice).address}"
    before = client.get(address).content.decode().partition('"html_digest"')[2][:80]
    contact(recorded, "2 Bank Street")
    assert client.get(address).content.decode().partition('"html_digest"')[2][:80] == before


def test_a_notice_without_a_sealed_contact_has_that_of_the_settings(recorded, monkeypatch):
    contact(recorded, "1 Bank Street")
    monkeypatch.setattr("notices.services.review.seal_approved", lambda **_: 0)
    notice = done(approve(recorded, drafted(recorded)))
    monkeypatch.undo()
    with unguarded():
        Approval.objects.update(sender=None, words_named=None)
    services.seal_approved()
    notice = shown(recorded, notice)
    assert "sender" not in sealed(notice)["letter"]
    assert "words_named" not in sealed(notice)["approval"]
    assert "1 Bank Street" in text(recorded, notice)
    contact(recorded, "2 Bank Street")
    assert "2 Bank Street" in text(recorded, notice)
