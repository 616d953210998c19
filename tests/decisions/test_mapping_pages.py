"""Pages of mappings: from samples to entries, their letter, and the second person who confirms."""

import html
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import AuditEvent, Member
from accounts.roles import Role
from decisions import tasks
from decisions.mapping import open_proposals
from decisions.mapping.models import Mapping, MappingProposal, MappingVersion
from tests.back_office.test_queries import MAX_QUERIES, queries
from tests.notices.test_mapped_letters import RECORD
from tests.people import Browser

pytestmark = pytest.mark.django_db

LIST = "/admin/decisions/mapping/"
START = f"{LIST}propose/"
CHOICES = {
    "outcome.status": {"means": "decision", "outcome_0": "counteroffer"},
    "outcome.declineReasons.*.code": {"means": "reason", "words_0_en": "Your credit accounts are too new"},
    "outcome.counter.maxAmountFinanced": {"means": "offer.amount", "currency": "USD", "scale": "minor"},
    "outcome.counter.buyRate": {"means": "offer.rate", "scale": "fraction"},
    "outcome.counter.termMonths": {"means": "offer.term", "unit": "months"},
    "events.application.requested": {"means": "object.amount", "currency": "USD", "scale": "minor"},
}
"""The answers of a person who knows the system of RECORD."""


@pytest.fixture
def author(signed_in) -> Browser:
    return signed_in(Role.OWNER, "author@bank.example")


def text(answer) -> str:
    return html.unescape(answer.content.decode())


def propose(browser, *, status=302, **fields):
    token = re.search(r'name="form_token" value="([^"]+)"', text(browser.get(START)))
    sent = {"count": "20", "languages": "en", "form_token": token.group(1), **fields}
    answer = browser.submit(START, **sent)
    assert answer.status_code == status, errors(answer)
    return answer


def errors(answer) -> list[str]:
    return re.findall(r'class="error[^>]*>(.*?)</p>', text(answer), re.DOTALL)


def entered(browser, address, choices=CHOICES) -> dict[str, str]:
    """Return the fields of a proposal's form as it is shown, with the choices of a person."""
    page = text(browser.get(address))
    fields = dict(re.findall(r'<input type="text" name="(f[^"]+)" value="([^"]*)"', page))
    for name, options in re.findall(r'<select name="(f[^"]+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        fields[name] = (re.findall(r'value="([^"]*)" selected', options) or [""])[0]
    paths = re.findall(r'<legend><code dir="auto">(.*?)</code></legend>', page)
    for path, chosen in choices.items():
        fields |= {f"f{paths.index(path)}-{name}": value for name, value in chosen.items()}
    return fields


def saved(browser, address, choices=CHOICES):
    answer = browser.submit(address, **entered(browser, address, choices), save="Save")
    assert answer.status_code == 302, errors(answer)
    return MappingVersion.objects.latest("pk")


def test_a_mapping_is_proposed_completed_and_confirmed_by_a_second_person(api, author, signed_in):
    assert api.ingest(RECORD).status_code == 201
    address = propose(author, system_name="Origination").url
    page = text(author.get(address))
    assert page.index("What do these codes mean, in words: R14?") < page.index("a field of the published profile")
    version = saved(author, address)
    assert "We can offer you $12,500." in " ".join(text(author.get(address)).split())
    assert version.confirmed_at is None
    own = f"{LIST}{version.mapping_id}/versions/1/"
    assert "You, or a key of yours, wrote this version" in text(author.get(own))
    other = signed_in(Role.ADMIN, "other@bank.example")
    assert "Amount offered" in text(other.get(own))
    assert other.submit(own, f"{own}confirm/").status_code == 302
    version.refresh_from_db()
    assert (version.confirmed_by, version.is_confirmed_alone) == ("member other@bank.example", False)
    assert "Origination" in text(other.get(LIST))
    assert list(AuditEvent.objects.filter(object_kind="mapping").order_by("pk").values_list("verb", flat=True)) == [
        "mapping.proposed",
        "mapping.confirmed",
    ]
    notice = api.post(f"/v1/decisions/{RECORD['decision_id']}/notices", {}).json()
    assert "Your credit accounts are too new." in json.dumps(notice["content"])


def test_the_only_member_confirms_their_own_version_and_the_page_says_so(api, author):
    api.ingest(RECORD)
    version = saved(author, propose(author, system_name="Origination").url)
    Member.objects.exclude(user__email="author@bank.example").delete()
    own = f"{LIST}{version.mapping_id}/versions/1/"
    author.submit(own, f"{own}confirm/")
    assert "Its author confirmed it." in text(author.get(own))


def test_who_wrote_an_entry_that_changes_does_not_confirm_it_though_another_saved_last(api, author, signed_in):
    api.ingest(RECORD)
    address = propose(author, system_name="Origination").url
    version = saved(author, address)
    other = signed_in(Role.ADMIN, "other@bank.example")
    saved(other, address, {"outcome.counter.termMonths": {"means": "term", "unit": "weeks"}})
    signed_in(Role.ADMIN, "third@bank.example")
    page = f"{LIST}{version.mapping_id}/versions/2/"
    assert [("wrote this version" in text(who.get(page))) for who in (author, other)] == [True, True]


def test_a_meaning_shows_what_it_needs_and_nothing_is_saved_without_it(api, author):
    address = propose(author, pasted=json.dumps([RECORD])).url
    chosen = entered(author, address, {"outcome.counter.maxAmountFinanced": {"means": "offer.amount"}})
    answer = author.submit(address, **chosen, save="Save")
    assert answer.status_code == 422
    page = text(answer)
    assert "Fill this in: this meaning needs it." in page
    assert "Currency" in page
    assert not Mapping.objects.exists()


def test_posted_samples_are_not_stored_and_examples_are_masked(api, author):
    record = RECORD | {"events": {"application": {"name": "Jane Roe"}}}
    address = propose(author, pasted=json.dumps(record)).url
    stored = json.dumps(MappingProposal.objects.get().rows)
    assert "Jane" not in stored + text(author.get(address))
    assert "xxxx xxx" in stored


@pytest.mark.parametrize(
    "samples",
    [json.dumps(RECORD), json.dumps([RECORD, RECORD]), f"{json.dumps(RECORD)}\n{json.dumps(RECORD)}\n"],
    ids=["one", "array", "lines"],
)
def test_samples_are_one_object_an_array_or_lines(author, samples):
    propose(author, file=SimpleUploadedFile("samples.json", samples.encode()))
    assert MappingProposal.objects.get().samples_read == samples.count("mapped-1")


@pytest.mark.parametrize(
    ("samples", "problem"),
    [("{", "Invalid JSON"), ("[1]", "Enter records as JSON objects"), ("[]", "Enter records"),
     (json.dumps([{}] * 1001), "at most 1000 records")],
)  # fmt: skip
def test_samples_that_are_no_records_are_refused(author, samples, problem):
    assert problem in text(propose(author, pasted=samples, system_name="x", status=422))


def test_a_system_without_records_in_custody_is_refused(author):
    assert "no record of this system" in text(propose(author, system_name="Nothing", status=422))


def test_a_worker_reads_many_samples_and_the_page_shows_how_far_it_is(api, author):
    api.ingest(RECORD)
    address = propose(author, system_name="Origination", count="1000").url
    waiting = author.get(address)
    assert (waiting["Refresh"], "0 of at most 1000 records read" in text(waiting)) == ("2", True)
    tasks.propose_mappings()
    assert "Refresh" not in author.get(address)
    assert MappingProposal.objects.get().samples_read == 1


def test_fields_that_an_entry_of_the_mapping_covers_need_no_proposal(api, author):
    entries = [{"path": "events.bureau.*", "means": "input", "label": {"en": "your credit report"}}]
    made = api.post("/v1/mappings", {"name": "Mine", "system_name": "Origination", "entries": entries}).json()
    api.ingest(RECORD)
    address = propose(author, mapping=made["mapping_id"]).url
    assert "An entry for <code>events.bureau.*</code> covers it." in text(author.get(address))
    version = saved(author, address)
    assert version.number == 2
    assert entries[0] in version.entries
    assert "events.bureau.score" not in str(version.entries)


def test_what_the_form_does_not_show_stays_as_it_is(api, author):
    values = {"COUNTER": {"outcome": "counteroffer", "de": "Wir bieten anderes an.", "relation": "broader"}}
    entries = [{"path": "outcome.status", "means": "decision", "values": values}]
    made = api.post("/v1/mappings", {"name": "Mine", "system_name": "Origination", "entries": entries}).json()
    address = propose(author, mapping=made["mapping_id"], pasted=json.dumps(RECORD)).url
    version = saved(author, address, {"outcome.counter.termMonths": {"means": "offer.term", "unit": "months"}})
    assert entries[0] in version.entries


def test_the_letter_is_that_of_the_entries_on_the_page_before_they_are_saved(author):
    address = propose(author, pasted=json.dumps(RECORD)).url
    shown = text(author.submit(address, **entered(author, address), sample=json.dumps(RECORD), show="Show"))
    assert "The rate of the offer is 17.99%." in " ".join(shown.split())
    assert not Mapping.objects.exists()


@pytest.mark.parametrize("role", [Role.AUDITOR, Role.EDITOR, Role.APPROVER])
def test_members_who_may_not_manage_notices_read_only(api, author, signed_in, role):
    api.ingest(RECORD)
    address = propose(author, system_name="Origination").url
    version = saved(author, address)
    reader = signed_in(role, "reader@bank.example")
    own = f"{LIST}{version.mapping_id}/versions/1/"
    for page in (LIST, f"{LIST}{version.mapping_id}/change/", own, address):
        assert reader.get(page).status_code == 200
    assert reader.get(START).status_code == 403
    assert reader.submit(LIST, address, save="Save").status_code == 403
    assert reader.submit(LIST, f"{own}confirm/").status_code == 403


def test_another_organizations_pages_are_not_found(api, author, other_api):
    made = other_api.post("/v1/mappings", {"name": "Mine", "system_name": "x", "entries": [CHOICE]}).json()
    proposal = MappingProposal.objects.create(
        organization=other_api.organization, name="x", languages=["en"], samples=1, rows=[]
    )
    for page in (f"{made['mapping_id']}/change/", f"{made['mapping_id']}/versions/1/", f"proposals/{proposal.pk}/"):
        assert author.get(f"{LIST}{page}").status_code == 404


def test_the_pages_of_mappings_take_at_most_twelve_queries(api, author):
    api.ingest(RECORD)
    address = propose(author, system_name="Origination").url
    mapping = f"{LIST}{saved(author, address).mapping_id}/"
    pages = (LIST, START, address, f"{mapping}change/", f"{mapping}versions/1/")
    assert {page: count for page in pages if (count := queries(author, page)) > MAX_QUERIES} == {}


CHOICE = {"path": "decided_at", "means": "decided"}


def test_an_organization_keeps_its_newest_proposals(author, monkeypatch):
    monkeypatch.setattr(open_proposals, "_MAX_KEPT", 2)
    for _ in range(3):
        propose(author, pasted=json.dumps(RECORD))
    assert MappingProposal.objects.count() == 2
