"""A pack's text names no second way beside the one that a record or setting gives."""

from typing import Any

import pytest

from notices.packs import packs
from notices.phrasebook import Phrase
from tests.cases import each_case
from tests.notices.drafts import EVERY, drafted
from tests.notices.law_us import CREDIT, HEALTH, record, rights

REVIEWED = [pair for pair in EVERY if "{contact}" in packs()[pair[0]].text(pair[1]).how_to_request_review]
CONTACT = {"contact": "office@example.com"}


def how(pack: str, language: str, review: dict[str, Any], *phrases: Phrase) -> str:
    given = {**record(review={"available": True, **review}, solely_automated=True), "decided_at": "2028-01-10"}
    return str(drafted(given, pack, language, *phrases, placeholders=CONTACT)["how_to_request_review"])


@each_case(("pack", "language"), REVIEWED)
@each_case("name", ["how", "howToRequest", "instructions"])
def test_a_review_is_requested_as_the_record_says(pack: str, language: str, name: str):
    instructions = how(pack, language, {name: "Call 1-800-555-0100"})
    assert "Call 1-800-555-0100." in instructions
    assert "office@example.com" not in instructions
    assert len(instructions) > len("Call 1-800-555-0100. ") + 20  # the pack's other words stay


@each_case(("pack", "language"), REVIEWED)
@each_case("name", ["contact", "email", "Address"])
def test_a_review_is_requested_at_the_record_s_address(pack: str, language: str, name: str):
    instructions = how(pack, language, {name: "review@example.com"})
    assert "review@example.com" in instructions
    assert "office@example.com" not in instructions


@pytest.mark.parametrize("review", [{}, {"how": ""}, {"how": 3}, {"how": "{contact}"}, {"how": {"by": "post"}}])
def test_without_instructions_in_the_record_the_pack_gives_them(review: dict[str, Any]):
    assert "Write to office@example.com." in how("gdpr_22", "en", review)


def test_withheld_instructions_are_not_printed():
    withheld = Phrase("outcome.review.how", "", "", True)
    assert "Call" not in how("gdpr_22", "en", {"how": "Call 1-800-555-0100"}, withheld)


SAYING = [
    {"offer": {"amount": 5000, "howToAccept": "Call 1-800-555-0100"}},
    {"counteroffer": {"amount": 5000, "acceptance_instructions": "Sign in and accept."}},
    {"counterOffer": {"amount": 5000, "contact": "1-800-555-0100"}},
    {"offer": {"amount": 5000}, "how_to_accept_offer": "Sign in."},
]
SILENT = [
    {"offer": {"amount": 5000, "accept_by": "2026-12-24"}},
    {"offer": {"amount": 5000, "howToAccept": ""}},
    {"offer": {"amount": 5000}, "contact": "1-800-555-0100"},
]


@each_case("offer", [*SAYING, *SILENT])
def test_an_offer_is_accepted_in_one_way(offer: dict[str, Any]):
    text = rights(record(action="counteroffer", **offer), CREDIT)
    assert ("If you want to accept our offer" in text) is (offer in SILENT)


def test_an_appeal_goes_to_the_address_of_the_record():
    appeal = {"address": "PO Box 7, Example", "telephone": "1-800-555-0199"}
    text = rights(record(appeal=appeal), HEALTH, appeal_address="PO Box 1", appeal_telephone="1-800-555-0111")
    assert "PO Box 7, Example" in text
    assert "1-800-555-0199" in text
    assert "PO Box 1" not in text
