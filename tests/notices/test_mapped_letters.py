"""Letters about records whose meaning a mapping declares: they say what it states, and nothing else of the record."""

import json

import pytest

from accounts.roles import Role
from notices.models import Contributor
from tests.decisions.test_mappings import confirm, create, send
from tests.notices.conftest import approve, done, drafted, edit, refused, shown

pytestmark = pytest.mark.django_db

RECORD = {
    "decision_id": "mapped-1",
    "decided_at": "2026-11-20T10:00:00Z",
    "system": {"name": "Origination", "version": "4.1"},
    "outcome": {
        "status": "COUNTER",
        "declineReasons": [{"code": "R14"}],
        "counter": {"maxAmountFinanced": 1250000, "buyRate": 0.1799, "termMonths": 48, "expires": "2026-12-10"},
    },
    "events": {"coapplicant": {"bankruptcy": True}, "application": {"requested": 2000000}, "bureau": {"score": 640}},
}
ENTRIES = [
    {"path": "decided_at", "means": "decided"},
    {
        "path": "outcome.status",
        "means": "decision",
        "values": {
            "COUNTER": {"outcome": "counteroffer", "relation": "equivalent"},
            "DECL": {"outcome": "denied", "en": "We declined your application.", "relation": "equivalent"},
        },
    },
    {
        "path": "outcome.declineReasons.*.code",
        "means": "reason",
        "values": {"R14": {"en": "Your credit accounts are too new", "relation": "equivalent"}},
    },
    {"path": "outcome.counter.maxAmountFinanced", "means": "offer.amount", "currency": "USD", "scale": "minor"},
    {"path": "outcome.counter.buyRate", "means": "offer.rate", "scale": "fraction"},
    {"path": "outcome.counter.termMonths", "means": "offer.term", "unit": "months"},
    {"path": "outcome.counter.expires", "means": "offer.until"},
    {"path": "events.application.requested", "means": "object.amount", "currency": "USD", "scale": "minor"},
    {"path": "events.bureau.*", "means": "input", "label": {"en": "your credit report"}},
    {"path": "events.coapplicant.**", "means": "not_told", "class": "other_person"},
]


@pytest.fixture
def mapping(api):
    """A confirmed mapping of the system of RECORD."""
    mapping = create(api, entries=ENTRIES)
    assert confirm(api, mapping).status_code == 200
    return mapping


def draft(api, record=RECORD, **body):
    assert api.ingest(record).status_code == 201
    return drafted(api, record["decision_id"], **body)


def told(notice, section):
    return [(item["statement"], item["source"]) for item in notice["content"][section]]


def test_a_letter_says_what_the_mapping_states(api, mapping):
    notice = draft(api)
    assert told(notice, "decision_summary") == [
        ("This is our decision on your application for $20,000.", "events.application.requested"),
        ("We could not approve your application as you asked, but we can make you another offer.", "outcome.status"),
        ("The decision was made on November 20, 2026.", "decided_at"),
        ("We can offer you $12,500.", "outcome.counter.maxAmountFinanced"),
        ("The rate of the offer is 17.99%.", "outcome.counter.buyRate"),
        ("The term of the offer is 48 months.", "outcome.counter.termMonths"),
        ("You can accept the offer until December 10, 2026.", "outcome.counter.expires"),
    ]
    assert told(notice, "main_factors") == [("Your credit accounts are too new.", "outcome.declineReasons.0.code")]
    assert told(notice, "inputs_used") == [("Your credit report.", "events.bureau.score")]


def test_nothing_unmapped_or_withheld_is_printed(api, mapping):
    assert api.ingest(RECORD | {"outcome": RECORD["outcome"] | {"note": "SAR filed"}}).status_code == 201
    notice = drafted(api, "mapped-1")
    written = json.dumps(notice["content"])
    assert not any(word in written for word in ("SAR", "ankruptcy", "640", "1250000", "R14", "oapplicant"))


def test_a_statement_does_not_cite_what_the_mapping_withholds(api, mapping):
    notice = draft(api, pack="us_ecoa_fcra")
    item = {"statement": "Bankruptcy was considered.", "source": "events.coapplicant.bankruptcy"}
    assert edit(api, notice, inputs_used=[item]).status_code == 200
    assert "events.coapplicant.bankruptcy is withheld by the mapping" in refused(approve(api, notice))


def test_a_citation_shows_the_signed_value_and_how_it_is_read(api, mapping):
    citations = {item["source"]: item for item in draft(api)["citations"]}
    amount = citations["outcome.counter.maxAmountFinanced"]
    assert (amount["resolves"], amount["value"]) == (True, 1250000)
    assert amount["decode"] == "minor units, told as 12,500.00 USD"
    assert "decode" not in citations["outcome.counter.expires"]


def test_the_approver_sees_how_a_cited_value_is_read(api, mapping, signed_in):
    notice = draft(api)
    assert shown(api, notice)["citations"] == notice["citations"]
    page = signed_in(Role.APPROVER).get(f"/admin/notices/notice/{notice['notice_id']}/change/")
    assert "1250000 (minor units, told as 12,500.00 USD)" in page.content.decode()


def test_the_mappings_own_words_for_a_decision_are_used(api, mapping):
    notice = draft(api, RECORD | {"outcome": {"status": "DECL", "declineReasons": [{"code": "R14"}]}})
    assert ("We declined your application.", "outcome.status") in told(notice, "decision_summary")


def test_a_draft_without_words_in_its_language_omits_the_code_and_says_so(api, mapping):
    notice = draft(api, recipient={"language": "de"})
    assert told(notice, "main_factors") == []
    answer = json.dumps(shown(api, notice))
    assert "a code without words in de" in answer
    assert "a label without words in de" in answer


@pytest.mark.parametrize("pack", ["us_ecoa_fcra"])
def test_a_new_code_blocks_a_letter_under_a_law_until_the_mapping_explains_it(api, mapping, pack):
    outcome = RECORD["outcome"] | {"declineReasons": [{"code": "R14"}, {"code": "R99"}], "channel": "web"}
    notice = draft(api, RECORD | {"outcome": outcome}, pack=pack)
    refusal = refused(approve(api, notice))
    assert "outcome.declineReasons.1.code has a code that no one has explained yet" in refusal
    assert "outcome.channel has a field that no one has explained yet" in refusal
    assert "R99" not in refusal


def test_a_new_code_is_named_and_does_not_block_under_the_organizations_own_policy(api, mapping):
    outcome = RECORD["outcome"] | {"declineReasons": [{"code": "R14"}, {"code": "R99"}]}
    notice = draft(api, RECORD | {"outcome": outcome})
    assert "that no one has explained yet" in json.dumps(shown(api, notice)["warnings"])
    done(approve(api, notice))


def test_a_notice_keeps_the_version_that_it_was_drafted_with(api, mapping):
    notice = draft(api)
    other = [entry for entry in ENTRIES if entry["path"] != "outcome.counter.buyRate"]
    send(api, f"mappings/{mapping['mapping_id']}/versions", {"entries": other})
    confirm(api, mapping, 2)
    assert edit(api, notice, title="A new title").status_code == 200
    assert "outcome.counter.buyRate" not in json.dumps(shown(api, notice)["warnings"])
    newer = drafted(api, "mapped-1")
    assert "outcome.counter.buyRate" in json.dumps(shown(api, newer)["warnings"])


def test_the_author_of_a_mapping_counts_as_a_writer_of_its_notices(api, signed_in):
    author, other = signed_in(Role.OWNER, "author@bank.example"), signed_in(Role.ADMIN, "other@bank.example")
    mapping = create(author, entries=ENTRIES)
    confirm(other, mapping)
    notice = draft(api)
    assert Contributor.objects.filter(part="mapping", mail="author@bank.example").exists()
    assert "You wrote the mapping" in refused(approve(author, notice, approver="", authority=""))


def test_an_approved_letter_proves_the_signed_fields_and_names_its_mapping(api, mapping):
    notice = draft(api)
    done(approve(api, notice))
    proof = api.get(f"/v1/notices/{notice['notice_id']}/letter?format=proof").json()
    version = mapping["versions"][0]
    assert proof["mapping"] == {"name": "Origination", "version": 1, "digest": version["digest"]}
    scalars = {item["path"]: item["scalar"] for item in proof["field_proofs"]}
    assert scalars["outcome.counter.maxAmountFinanced"] == "1250000"
