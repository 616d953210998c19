"""Objects of one organization do not exist for another."""

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction

from accounts import callers, services
from accounts.models import ApiKey, Invite, Member, SignedInSession
from accounts.roles import Role
from custody.models import Entry
from decisions.models import Decision
from notices.models import AuthorityGrant, Delivery
from tests.accounts.belongings import Belongings
from tests.accounts.endpoints import ENDPOINTS, GRANTED, MISSING_IDS, REASON
from tests.people import sign_in

pytestmark = pytest.mark.django_db

CANARY = "canary-7f3a"


@pytest.fixture
def theirs(other_api) -> Belongings:
    """Objects of another organization, each with CANARY in a text."""
    names = b'{"default_pack": "general", "placeholders": {"contact": "%s"}}' % CANARY.encode()
    assert other_api.client.put("/v1/notice-settings", names, content_type="application/json").status_code == 200
    return Belongings(other_api, CANARY)


WITH_IDENTIFIER = [name for name, endpoint in ENDPOINTS.items() if "{" in endpoint.path]
LISTS = [name for name, e in ENDPOINTS.items() if name.startswith("GET") and "{" not in e.path]


def state() -> list:
    names = ("notices", "connectors", "retention")
    app_models = [model for name in names for model in apps.get_app_config(name).get_models()]
    models = (Decision, Entry, ApiKey, Invite, Member, SignedInSession, *app_models)
    return [sorted(map(str, model.objects.values_list())) for model in models]


@pytest.fixture
def everything(theirs) -> dict:
    """Make one object of each kind for them, and return the identifiers."""
    return {name: getattr(theirs, name)() for name in MISSING_IDS}


def test_another_organizations_identifier_is_answered_like_one_that_does_not_exist(
    organization, everything, browser_of
):
    browser, before = browser_of(organization, Role.OWNER), state()
    differences = {}
    for name in WITH_IDENTIFIER:
        method, endpoint = name.partition(" ")[0], ENDPOINTS[name]
        foreign, missing = (
            browser.generic(method, f"/v1/{path}", endpoint.body, content_type=endpoint.content_type)
            for path in (endpoint.path.format(**everything), endpoint.path.format(**MISSING_IDS))
        )
        if (foreign.status_code, missing.status_code) != (404, 404) or foreign.content != missing.content:
            differences[name] = (foreign.status_code, foreign.content, missing.status_code, missing.content)
    assert differences == {}
    assert state() == before


def test_lists_show_nothing_of_another_organization(organization, everything, browser_of, other_api):
    browser = browser_of(organization, Role.OWNER)
    for name in LISTS:
        answer = browser.get("/v1/" + ENDPOINTS[name].path)
        assert answer.status_code == 200, name
        shown = answer.getvalue().decode()
        for secret in (CANARY, "other.example", str(other_api.organization.id), everything["key"]):
            assert secret not in shown, name


def test_an_owner_sees_their_own_objects(other_api, everything):
    """Otherwise the test above would pass whatever the lists show."""
    lists_text = "".join(other_api.get("/v1/" + ENDPOINTS[name].path).getvalue().decode() for name in LISTS)
    lists = ("decisions", "notices", "authority-grants", "review-requests", "notice-settings", "auth/invites")
    for path in (*lists, "retention/holds"):
        assert CANARY in other_api.get(f"/v1/{path}").getvalue().decode(), path
    assert everything["key"] in lists_text


def test_a_delivery_of_another_organization_s_notice_does_not_come_back_through_one_of_ours(api, theirs):
    ours, delivery = Belongings(api).approved(), theirs.delivery().partition("/")[2]
    answer = api.post(f"/v1/notices/{ours}/{delivery}/return", REASON)
    assert answer.status_code == 404
    assert Delivery.objects.get().returned_at is None


def test_another_organizations_member_gets_no_authority_in_ours(api, theirs):
    answer = api.post("/v1/authority-grants", GRANTED.replace(b"bank.example", b"other.example"))
    assert answer.status_code == 422
    assert not AuthorityGrant.objects.exists()


def test_two_organizations_may_use_the_same_decision_id(api, other_api):
    ours, other = {"decision_id": "loan-1", "bank": "ours"}, {"decision_id": "loan-1", "bank": "theirs"}
    answers = [api.ingest(ours), other_api.ingest(other)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].json()["record_id"] != answers[1].json()["record_id"]
    assert api.get("/v1/decisions/loan-1/record").json() == ours
    assert other_api.get("/v1/decisions/loan-1/record").json() == other


def test_another_organizations_cursor_reveals_nothing(api, other_api):
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


def test_a_member_of_two_organizations_acts_in_one_at_a_time(organization, other_api, theirs):
    theirs.key(), theirs.decision()
    email = "both@bank.example"
    services.add_member(caller=callers.system(organization.pk), email=email, role=Role.AUDITOR)
    services.add_member(caller=callers.system(other_api.organization.pk), email=email, role=Role.OWNER)
    browser = sign_in(email)
    assert browser.get("/v1/auth/me").json()["organization"]["slug"] == organization.slug
    assert browser.get("/v1/auth/me").json()["role"] == "auditor"
    assert browser.get("/v1/decisions").json()["items"] == []
    assert browser.get("/v1/auth/api-keys").status_code == 403
