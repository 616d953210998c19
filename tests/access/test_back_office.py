"""The back office has no passwords. It shows each role the rows of its organization that it may see, read-only."""

import json
import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import reverse

from accounts import audit
from accounts.models import Member, User
from accounts.roles import MEMBER_ROLES, Role
from tests.people import Browser, add_person, menu_pages, sign_in

pytestmark = pytest.mark.django_db

ALL = set(MEMBER_ROLES)
ADMINISTRATION = {Role.OWNER, Role.ADMIN}
SEES = {
    "accounts.member": ADMINISTRATION,
    "accounts.invite": ADMINISTRATION,
    "accounts.apikey": ADMINISTRATION,
    "accounts.auditevent": ADMINISTRATION | {Role.AUDITOR},
    "connectors.connector": ADMINISTRATION,
    "custody.entry": ALL,
    "custody.key": ALL,
    "decisions.decision": ALL,
    "decisions.reconsideration": ALL,
    "retention.hold": ADMINISTRATION | {Role.AUDITOR},
}
WITHOUT_ROWS = {"custody.storagetarget", "decisions.mapping", "retention.policy"}
"""Pages of their kind, tested in tests/custody/test_storage_pages.py, tests/decisions/test_mapping_pages.py and
tests/retention/test_back_office.py."""
ELSEWHERE = {"custody.disposal"}
"""Rows that belong to an organization through other rows, tested in tests/retention/test_back_office.py."""
CANARY = "canary-4c1e"


@pytest.fixture
def rows(organization, api, other_api) -> dict[str, tuple[object, object]]:
    """Make two rows of each kind: one of `organization`, and one of another organization with CANARY in a text."""
    pairs = {}
    for client, word in ((api, "own"), (other_api, CANARY)):
        client.ingest({"decision_id": word, "system": {"name": word}})
        review = {"requested_by": word, "reviewer": word, "reviewer_authority": word, "outcome": word, "rationale": "x"}
        client.post(f"/v1/decisions/{word}/reconsideration", json.dumps(review).encode())
        client.post("/v1/auth/invites", b'{"email": "%s@else.example", "role": "editor"}' % word.encode())
        client.post("/v1/connectors", b'{"kind": "directory", "name": "%s"}' % word.encode())
        client.post("/v1/auth/api-keys", b'{"name": "%s"}' % word.encode())
        hold = {"matter": word, "reason": word, "filter": {"action": word}}
        client.post("/v1/retention/holds", json.dumps(hold).encode())
        add_person(client.organization, Role.EDITOR, f"{word}@bank.example")
        actor = audit.Actor("member", "1", word)
        audit.record(
            f"test.{word}", actor=actor, organization_id=client.organization.id, object_kind="x", object_id=word
        )
    for label in SEES:
        model = apps.get_model(label)
        own, other = (model.objects.filter(organization=owner.organization).last() for owner in (api, other_api))
        pairs[label] = own, other
    return pairs


def url(label: str, page: str = "changelist", *arguments: object) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_{page}", args=arguments)


def test_every_page_of_the_back_office_has_an_entry_here():
    """The pages of notices are tested in tests/notices."""
    registered = {model._meta.label_lower for model in admin.site._registry if model._meta.app_label != "notices"}
    assert registered == set(SEES) | WITHOUT_ROWS | ELSEWHERE


def test_no_page_asks_for_a_password(organization):
    strangers, browser = Browser(), sign_in("owner@bank.example")
    for path in ("/admin/login/", "/sign-in/", "/admin/password_change/", "/admin/"):
        for visitor in (strangers, browser):
            page = visitor.get(path, follow=True).content.decode()
            assert 'type="password"' not in page, path


def test_each_role_sees_what_the_matrix_allows(rows, signed_in, subtests):
    for role in MEMBER_ROLES:
        browser = signed_in(role)
        offered = menu_pages(browser)
        for label, roles in SEES.items():
            with subtests.test(label, role=role):
                own = rows[label][0]
                pages = [url(label), url(label, "change", own.pk)]
                expected = 200 if role in roles else 403
                assert [browser.get(page, follow=True).status_code for page in pages] == [expected] * 2
                assert (url(label) in offered) == (role in roles)


def test_another_organizations_rows_do_not_exist(rows, signed_in, subtests):
    browser = signed_in(Role.OWNER)
    for label, (own, other) in rows.items():
        with subtests.test(label):
            shown = browser.get(url(label), {"all": ""}).content.decode()
            assert CANARY not in shown
            assert url(label, "change", own.pk) in shown
            answer = browser.get(url(label, "change", other.pk), follow=True)
            assert answer.status_code == 404
            assert CANARY not in answer.content.decode()


def test_a_search_finds_no_row_of_another_organization(rows, signed_in):
    browser = signed_in(Role.OWNER)
    page = browser.get(url("decisions.decision"), {"q": CANARY}).content.decode()
    assert "0 decisions" in page
    echoes = (f'value="{CANARY}"', f"q={CANARY}", f"“<bdi>{CANARY}</bdi>”")
    assert page.count(CANARY) == sum(map(page.count, echoes))


@pytest.mark.parametrize(
    ("label", "lookup"),
    [
        ("accounts.member", "user__totp_secret__startswith"),
        ("accounts.member", "user__password__startswith"),
        ("accounts.member", "organization__slug"),
        ("decisions.decision", "organization__name"),
        ("accounts.auditevent", "organization__invites__digest__startswith"),
        ("accounts.apikey", "digest__startswith"),
        ("accounts.invite", "digest__startswith"),
    ],
)
def test_a_pages_address_cannot_filter_by_a_hidden_column(label, lookup, signed_in):
    assert signed_in(Role.OWNER).get(url(label), {lookup: "g"}).status_code == 400


def test_the_pages_show_no_secret_of_a_key_or_an_invitation(rows, signed_in):
    browser = signed_in(Role.OWNER)
    for label in ("accounts.apikey", "accounts.invite"):
        own = rows[label][0]
        for page in (url(label), url(label, "change", own.pk)):
            shown = browser.get(page).content.decode()
            assert not own.digest or own.digest not in shown


# ── read-only ──


def everything() -> list[list[str]]:
    return [sorted(map(str, apps.get_model(label).objects.values_list())) for label in SEES]


@pytest.mark.parametrize("role", [Role.OWNER, Role.AUDITOR])
def test_no_crafted_form_adds_changes_or_deletes_a_row(role, rows, signed_in, subtests):
    browser = signed_in(role)
    fields = {"role": "owner", "name": "changed", "verb": "changed", "email": "changed@bank.example", "_save": "Save"}
    token = browser.csrf_token("/account/sessions/")
    before = everything()
    for label, both in rows.items():
        browser.post(f"{url(label)}add/", {**fields, "csrfmiddlewaretoken": token})
        for row in both:
            attempts = [
                (url(label, "change", row.pk), fields),
                (f"{url(label)}{row.pk}/delete/", {"post": "yes"}),
                (url(label), {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes",
                              "index": "0"}),
                (url(label), {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(row.pk),
                              "form-0-role": "owner", "_save": "Save"}),
            ]  # fmt: skip
            for path, body in attempts:
                browser.post(path, {**body, "csrfmiddlewaretoken": token})
        with subtests.test(label):
            assert everything() == before


def test_the_admins_pages_for_changes_do_not_exist(rows, signed_in, subtests):
    browser = signed_in(Role.OWNER)
    for label, (own, _) in rows.items():
        with subtests.test(label):
            for path in ("add", f"{own.pk}/delete", f"{own.pk}/history"):
                assert browser.get(f"{url(label)}{path}/").status_code == 404
            for page in (url(label), url(label, "change", own.pk)):
                shown = browser.get(page, follow=True).content.decode()
                assert not re.search(r'name="_save"|deletelink|delete_selected', shown)


def test_a_person_without_a_membership_is_not_let_in(organization):
    person = User.objects.create(email="unknown@bank.example")
    browser = sign_in(person.email)
    assert browser.get("/admin/").status_code == 302
    assert not Member.objects.filter(user=person).exists()


def test_a_key_does_not_open_the_back_office(api):
    assert api.get("/admin/").status_code == 302
