"""What belongs to one organization does not exist for another."""

import pytest
from django.db import IntegrityError, transaction

from accounts import audit, services
from accounts.models import ApiKey, Invite, Member, SignedInSession
from accounts.roles import Role
from custody.models import Entry
from decisions.models import Decision
from tests.accounts.endpoints import ENDPOINTS, RECONSIDERED

pytestmark = pytest.mark.django_db

CANARY = "canary-7f3a"


@pytest.fixture
def theirs(other_api, browser_of):
    """Identifiers of everything that another organization has; all of it says CANARY somewhere."""
    assert other_api.ingest({"decision_id": CANARY, "outcome": {"action": CANARY}}).status_code == 201
    other_api.post("/v1/auth/api-keys", b'{"name": "%s"}' % CANARY.encode())
    other_api.post("/v1/auth/invites", b'{"email": "%s@other.example", "role": "editor"}' % CANARY.encode())
    browser_of(other_api.organization, Role.EDITOR)
    reconsidered = other_api.post(f"/v1/decisions/{CANARY}/reconsideration", RECONSIDERED)
    return {
        "decision": CANARY,
        "reconsideration": reconsidered.json()["decision_id"],
        "notice": other_api.post(f"/v1/decisions/{CANARY}/notices", b"{}").json()["notice_id"],
        "key": ApiKey.objects.get(name=CANARY).key_id,
        "invite": Invite.objects.get().pk,
        "member": other_api.organization.members.get(role=Role.EDITOR).pk,
        "session": SignedInSession.objects.get().pk,
    }


WITH_IDENTIFIER = [name for name, endpoint in ENDPOINTS.items() if "{" in endpoint.path]
LISTS = [name for name, e in ENDPOINTS.items() if name.startswith("GET") and "{" not in e.path]


def state() -> list:
    models = (Decision, Entry, ApiKey, Invite, Member, SignedInSession)
    return [sorted(map(str, model.objects.values_list())) for model in models]


@pytest.mark.parametrize("name", WITH_IDENTIFIER)
def test_another_organizations_identifier_is_answered_like_one_that_does_not_exist(
    name, organization, theirs, browser_of
):
    browser = browser_of(organization, Role.OWNER)
    method, endpoint = name.partition(" ")[0], ENDPOINTS[name]
    unknown = {
        "decision": "unknown",
        "reconsideration": "unknown",
        "notice": "unknown",
        "key": "0" * 16,
        "invite": 10**12,
        "member": 10**12,
        "session": 10**12,
    }
    before = state()
    foreign, missing = (
        browser.generic(
            method, "/v1/" + endpoint.path.format(**identifiers), endpoint.body, content_type=endpoint.content_type
        )
        for identifiers in (theirs, unknown)
    )
    assert (foreign.status_code, foreign.content) == (404, missing.content)
    assert missing.status_code == 404
    assert state() == before


@pytest.mark.parametrize("name", LISTS)
def test_lists_show_nothing_of_another_organization(name, organization, theirs, browser_of, other_api):
    browser = browser_of(organization, Role.OWNER)
    answer = browser.get("/v1/" + ENDPOINTS[name].path)
    assert answer.status_code == 200
    shown = answer.getvalue().decode()
    for secret in (CANARY, "other.example", str(other_api.organization.id), theirs["key"]):
        assert secret not in shown


def test_two_organizations_may_use_the_same_decision_id(api, other_api):
    ours, other = {"decision_id": "loan-1", "bank": "ours"}, {"decision_id": "loan-1", "bank": "theirs"}
    answers = [api.ingest(ours), other_api.ingest(other)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["record_id"] != answers[1].json()["record_id"]
    assert api.get("/v1/decisions/loan-1/record").json() == ours
    assert other_api.get("/v1/decisions/loan-1/record").json() == other


def test_a_cursor_of_another_organization_opens_nothing_of_it(api, other_api):
    for number in range(3):
        other_api.ingest({"decision_id": f"{CANARY}-{number}"})
    cursor = other_api.get("/v1/decisions", limit=1).json()["next_cursor"]
    assert api.get("/v1/decisions", limit=1, cursor=cursor).json() == {"items": [], "next_cursor": None}


def test_the_database_itself_refuses_a_second_record_of_an_id(api):
    api.ingest({"decision_id": "loan-1"})
    first = Decision.objects.get()
    entry = Entry.objects.get()
    entry.pk = "00000000-0000-0000-0000-000000000000"
    entry.save(force_insert=True)
    first.pk = entry.pk
    with pytest.raises(IntegrityError), transaction.atomic():
        first.save(force_insert=True)


def test_who_is_a_member_of_two_organizations_acts_in_one_at_a_time(organization, other_api, sign_in, theirs):
    email = "both@bank.example"
    services.add_member(organization=organization, email=email, role=Role.AUDITOR, actor=audit.SYSTEM)
    services.add_member(organization=other_api.organization, email=email, role=Role.OWNER, actor=audit.SYSTEM)
    browser = sign_in(email)
    assert browser.get("/v1/auth/me").json()["organization"]["slug"] == organization.slug
    assert browser.get("/v1/auth/me").json()["role"] == "auditor"
    assert browser.get("/v1/decisions").json()["items"] == []
    assert browser.get("/v1/auth/api-keys").status_code == 403
