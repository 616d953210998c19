"""A letter's recipient is not part of the notice's words: it can be set again, also after approval."""

import pytest

from accounts.models import AuditEvent
from accounts.roles import Role
from notices import tasks
from notices.letters.recipient import with_reference
from tests.notices.conftest import RECORD, approve, done, drafted, refused, send, shown, step

pytestmark = pytest.mark.django_db

MOVED = {
    "name": "A. Person",
    "address": ["2 Other Street"],
    "email": "moved@home.example",
    "reference": "application 7",
}
RECIPIENT = MOVED | {"address": ["1 Example Street"], "email": "person@home.example"}


def address(who, notice, recipient):
    return send(who, "PUT", f"notices/{notice['notice_id']}/recipient", {"recipient": recipient})


@pytest.fixture
def addressed(api) -> dict:
    api.ingest(RECORD)
    return drafted(api, recipient=RECIPIENT)


def text(api, notice) -> str:
    return api.get(f"/v1/notices/{notice['notice_id']}/letter", format="text").content.decode()


def test_a_new_recipient_takes_the_place_of_the_old_one_and_is_no_edit(api, addressed):
    changed = done(address(api, addressed, {"name": "B. Person"}))
    assert (changed["recipient"], changed["revision"]) == ({"name": "B. Person"}, 1)
    assert "B. Person" in text(api, addressed)
    assert "1 Example Street" not in text(api, addressed)
    assert shown(api, addressed)["content"] == addressed["content"]


def test_after_the_approval_the_address_can_change_and_the_sealed_reference_cannot(api, addressed):
    approved = done(approve(api, addressed))
    for other in (MOVED | {"reference": "application 8"}, {"name": "A. Person"}):
        assert "reference" in refused(address(api, addressed, other))
    changed = done(address(api, addressed, MOVED))
    assert (changed["state"], changed["letter_digest"]) == ("approved", approved["letter_digest"])
    assert "2 Other Street" in text(api, addressed)


@pytest.mark.filterwarnings("ignore:unclosed file .*sRGB2014:ResourceWarning")
def test_a_letter_that_came_back_is_mailed_to_the_new_address(api, addressed, mailoutbox):
    done(approve(api, addressed))
    first = done(step(api, addressed, "deliveries", {"channel": "post"}))
    done(step(api, addressed, f"deliveries/{first['delivery_id']}/return", {"reason": "Moved."}))
    done(address(api, addressed, MOVED))
    done(step(api, addressed, "deliveries", {"channel": "email"}))
    tasks.deliver_letters()
    assert [message.to for message in mailoutbox] == [["moved@home.example"]]


def test_while_a_mail_waits_its_recipient_stays(api, addressed):
    """Otherwise the letter to one address could name the person at another."""
    done(approve(api, addressed))
    done(step(api, addressed, "deliveries", {"channel": "email"}))
    assert "waits" in refused(address(api, addressed, MOVED))


def test_a_withdrawn_notice_keeps_its_recipient(api, addressed):
    step(api, addressed, "withdraw")
    assert "withdrawn" in refused(address(api, addressed, MOVED))


def test_setting_the_recipient_makes_no_writer(api, addressed, signed_in):
    clerk = signed_in(Role.APPROVER)
    done(address(clerk, addressed, MOVED))
    assert done(step(clerk, addressed, "approve"))["state"] == "approved"


@pytest.mark.parametrize("recipient", ["A. Person", None, [], 5])
def test_a_recipient_is_an_object(api, addressed, recipient):
    answer = address(api, addressed, recipient)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "recipient"])
    assert "A. Person" not in answer.content.decode()


def test_the_audit_trail_says_that_it_changed_and_not_to_what(api, addressed):
    done(address(api, addressed, MOVED))
    event = AuditEvent.objects.get(verb="notice.recipient_set")
    assert event.detail == {}


@pytest.mark.parametrize("number", ["078-05-1120", "4111 1111 1111 1111", "DE89370400440532013000"])
def test_a_reference_that_is_the_number_of_a_person_or_card_is_printed_in_no_letter(number):
    assert with_reference({}, number) == with_reference({"reference": number}, number) == {}
    assert with_reference({"name": "Ann"}, "application 4711") == {"name": "Ann", "reference": "application 4711"}
