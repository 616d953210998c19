"""Permissions of the notices pages: which role sees and does what, within its own organization."""

import re
from itertools import product
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.urls import get_resolver, reverse

from accounts import callers
from accounts import services as accounts
from accounts.models import Organization, User
from accounts.roles import MEMBER_ROLES, Permission, Role, allows
from notices import services
from notices.back_office.actions import ACTIONS
from notices.models import AuthorityGrant, NoticeRevision, Phrase, ReviewRequest, StoredCheck, StoredPdf
from tests.notices.conftest import RECORD, acting, approve, done, drafted, edit, step, stored
from tests.notices.test_review_requests import ask
from tests.people import Browser, menu_pages, sign_in
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

ALL = frozenset(Role)
REVIEWERS = frozenset(role for role in Role if allows(role, Permission.RECONSIDER))
SEES = {
    "notice": ALL,
    "phrase": ALL,
    "authoritygrant": ALL,
    "reviewrequest": REVIEWERS,
}
WITHOUT_ROWS = ("notices_noticesettings_changelist", "notice-packs", "notice-report")
CANARY = "canary-7d3f"


def page(notice: Any, name: str = "notices_notice_change", *more: Any) -> str:
    """Return the address of a notice's page, as the API shows it."""
    return reverse(f"admin:{name}", args=[notice["notice_id"], *more])


def do(browser: Browser, notice: Any, name: str, **entered: Any) -> Any:
    """Send a form of the review page with the current revision, and return the response."""
    revision = NoticeRevision.objects.filter(notice=notice["notice_id"]).latest("number").number
    return browser.submit(page(notice), page(notice, "act-on-notice", name), **{"revision": str(revision), **entered})


def rows_of(api: Any, word: str) -> dict[str, Any]:
    """Make a row of every kind and a delivered notice, in an organization whose rows contain `word`."""
    done(api.ingest({**RECORD, "decision_id": word}))
    draft = drafted(api, word)
    edit(api, draft, title=word, human_review_available=True, how_to_request_review="On the page.")
    sent = drafted(api, word)
    edit(api, sent, human_review_available=True, how_to_request_review="On the page.")
    done(approve(api, sent))
    done(step(api, sent, "deliveries", {"channel": "post", "address": word}))
    request = ask(api, sent, message=word)
    admin_ = acting(api.organization, Role.ADMIN, f"admin@{word}.example")
    member = api.organization.members.order_by("pk").first()
    grant = services.grant_authority(member=member, authority=word, valid_from=member.created_at.date(), caller=admin_)
    phrase = Phrase(language="en", key=word, sentence=word)
    services.put_phrases(caller=callers.system(api.organization.pk), phrases=[phrase])
    phrase = Phrase.objects.get(organization=api.organization)
    return {
        "notice": stored(api, draft),
        "sent": stored(api, sent),
        "phrase": phrase,
        "authoritygrant": grant,
        "reviewrequest": request,
    }


@pytest.fixture
def own(api) -> dict[str, Any]:
    return make_once("own rows", lambda: rows_of(api, "own-word"))


@pytest.fixture
def other(other_api) -> dict[str, Any]:
    return make_once("another organization's rows", lambda: rows_of(other_api, CANARY))


def listed(kind: str) -> str:
    """Return the address of a list page, for notices in every state."""
    return reverse(f"admin:notices_{kind}_changelist") + ("?queue=all" if kind == "notice" else "")


def row(kind: str, rows: dict[str, Any]) -> str:
    return reverse(f"admin:notices_{kind}_change", args=[rows[kind].pk])


def gets(rows: dict[str, Any]) -> list[str]:
    """Return every address that shows one row of notices."""
    notice = {"notice_id": rows["notice"].pk}
    letter = page(notice, "notice-letter")
    return [
        *(row(kind, rows) for kind in SEES),
        page(notice, "compare-notice"),
        *(f"{letter}?format={kind}" for kind in ("html", "pdf", "text")),
    ]


def posts(rows: dict[str, Any]) -> dict[str, Permission]:
    """Return every address that takes a form about a row, with the permission it needs."""
    notice, sent = {"notice_id": rows["notice"].pk}, {"notice_id": rows["sent"].pk}
    delivery = rows["sent"].deliveries.get().pk
    return {
        **{page(notice, "act-on-notice", name): action.permission for name, action in ACTIONS.items()},
        page(notice, "edit-notice"): Permission.DRAFT_NOTICES,
        page(sent, "return-delivery", delivery): Permission.DRAFT_NOTICES,
        reverse("admin:draft-notice", args=[rows["notice"].decision_id]): Permission.DRAFT_NOTICES,
        reverse("admin:remove-phrase", args=[rows["phrase"].pk]): Permission.MANAGE_NOTICES,
        reverse("admin:revoke-grant", args=[rows["authoritygrant"].pk]): Permission.GRANT_AUTHORITY,
        reverse("admin:cancel-loosening", args=["require_grants"]): Permission.MANAGE_NOTICES,
        reverse("admin:close-review-request", args=[rows["reviewrequest"].pk]): Permission.RECONSIDER,
    }


FORMS = {
    "put-phrase": Permission.MANAGE_NOTICES,
    "import-phrases": Permission.MANAGE_NOTICES,
    "grant-authority": Permission.GRANT_AUTHORITY,
    "notices_noticesettings_changelist": Permission.MANAGE_NOTICES,
}
ENTERED = {
    "reason": "Because.", "channel": "post", "pack": "general", "title": "Mine", "revision": "2", "language": "en",
    "key": "made up", "authority": "any", "valid_from": "2026-01-01", "default_pack": "general", "at_risk_days": "9",
    **{f"{name}-{count}_FORMS": "0" for name, count in product(
        ("decision_summary", "role_of_automated_system", "main_factors", "inputs_used"), ("TOTAL", "INITIAL"))},
}  # fmt: skip


def everything() -> list[Any]:
    """Return all rows of notices, to detect changes. Derived rows are left out, because they repeat them."""
    models = [model for model in apps.get_app_config("notices").get_models() if model not in (StoredCheck, StoredPdf)]
    return [sorted(map(str, model.objects.values_list())) for model in models]


def test_every_address_of_notices_is_in_these_tests(own):
    """A page added without a line here would not be tested."""
    known = {pattern.name for entry in admin.site.urls[0] for pattern in getattr(entry, "url_patterns", ())
             if "notices" in str(entry.pattern)}  # fmt: skip
    looked_at = {f"notices_{kind}_{page}" for kind in SEES for page in ("changelist", "change", "csv")} | {
        *WITHOUT_ROWS, "notice-pack", "compare-notice", "notice-letter",
    }  # fmt: skip
    resolver = get_resolver()
    sent_to = {resolver.resolve(address).url_name for address in posts(own)}
    assert known == looked_at | sent_to | set(FORMS)


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_each_role_sees_what_the_matrix_allows(role, own, signed_in):
    browser = signed_in(role)
    offered = menu_pages(browser)
    for kind, roles in SEES.items():
        expected = 200 if role in roles else 403
        addresses = (listed(kind), row(kind, own), reverse(f"admin:notices_{kind}_csv"))
        assert [browser.get(address).status_code for address in addresses] == [expected] * 3, kind
        assert (listed(kind).partition("?")[0] in offered) == (role in roles), kind
    for name in WITHOUT_ROWS:
        assert browser.get(reverse(f"admin:{name}")).status_code == 200
    notice = {"notice_id": own["notice"].pk}
    assert {browser.get(page(notice, name)).status_code for name in ("compare-notice", "notice-letter")} == {200}


def test_another_organizations_rows_do_not_exist(own, other, signed_in):
    browser = signed_in(Role.OWNER)
    for kind in SEES:
        shown = browser.get(listed(kind)).content.decode()
        assert row(kind, own) in shown
        assert CANARY not in shown
    for address in gets(other):
        answer = browser.get(address)
        assert answer.status_code == 404, address
        assert CANARY not in answer.content.decode().replace(address, "")
    assert CANARY not in browser.get(reverse("admin:notice-report")).content.decode()
    assert CANARY not in browser.get("/admin/").content.decode()


def test_nothing_is_done_to_another_organizations_rows(own, other, signed_in):
    browser = signed_in(Role.OWNER)
    token = browser.csrf_token(page({"notice_id": own["notice"].pk}))
    before = everything()
    for address in posts(other):
        answer = browser.post(address, {**ENTERED, "csrfmiddlewaretoken": token})
        assert answer.status_code == 404, address
    assert everything() == before


def test_a_grant_goes_to_no_member_of_another_organization(own, other, signed_in):
    browser = signed_in(Role.OWNER)
    stranger = Organization.objects.exclude(pk=own["notice"].organization_id).get().members.first()
    before = AuthorityGrant.objects.count()
    address = reverse("admin:grant-authority")
    answer = browser.submit(address, **{**ENTERED, "member": str(stranger.pk)})
    assert (answer.status_code, AuthorityGrant.objects.count()) == (422, before)


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_no_role_does_what_the_matrix_does_not_allow(role, own, signed_in):
    browser = signed_in(role)
    token = browser.csrf_token("/account/sessions/")
    before = everything()
    addresses = posts(own) | {reverse(f"admin:{name}"): permission for name, permission in FORMS.items()}
    refused = [address for address, permission in addresses.items() if not allows(role, permission)]
    for address in refused:
        answer = browser.post(address, {**ENTERED, "csrfmiddlewaretoken": token})
        assert answer.status_code == 403, address
    assert everything() == before
    assert bool(refused) == (role not in (Role.OWNER, Role.ADMIN))


def test_a_member_without_their_second_factor_can_only_look(organization, own, signed_in):
    browser = signed_in(Role.OWNER)
    accounts.require_second_factor(caller=callers.system(organization.pk), required=True)
    token = browser.csrf_token("/account/sessions/")
    before = everything()
    for address in (*posts(own), *(reverse(f"admin:{name}") for name in FORMS)):
        answer = browser.post(address, {**ENTERED, "csrfmiddlewaretoken": token})
        assert answer.status_code == 403, address
        assert "Confirm with your app first" in answer.content.decode()
    assert everything() == before
    assert {browser.get(address).status_code for address in gets(own)} == {200}


def test_looking_changes_nothing_anywhere(own, signed_in):
    """This includes form addresses, whatever is in their query."""
    browser = signed_in(Role.OWNER)
    before = everything()
    for address in [*gets(own), *posts(own), *(reverse(f"admin:{name}") for name in FORMS)]:
        assert browser.get(address, ENTERED).status_code in (200, 302, 404), address
    assert everything() == before


def test_no_form_counts_without_the_token_of_a_page(own, signed_in):
    browser = signed_in(Role.OWNER)
    before = everything()
    for address in [*posts(own), *(reverse(f"admin:{name}") for name in FORMS)]:
        assert browser.post(address, ENTERED).status_code == 403, address
    assert everything() == before


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_a_button_that_a_role_may_not_press_is_disabled_and_says_why(role, own, signed_in):
    shown = signed_in(role).get(row("notice", own)).content.decode()
    for action in ACTIONS.values():
        (button,) = re.findall(rf"<button[^>]*>{action.label}</button>\s*(?:<span[^>]*>([^<]*))?", shown)
        if not allows(role, action.permission):
            assert button == f"Your role, {role}, may not {action.permission}.", action.name
        else:
            assert "Your role" not in button, action.name


def test_a_platform_operator_can_only_look(own, signed_in):
    organization = own["notice"].organization
    runner = sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)
    runner.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    for address in [*gets(own), *map(listed, SEES), *(reverse(f"admin:{name}") for name in WITHOUT_ROWS)]:
        assert runner.get(address).status_code == 200, address
    assert "own-word" not in runner.get("/admin/notices/notice/?queue=mine").content.decode()
    shown = runner.get(row("notice", own)).content.decode()
    assert shown.count("its members act") == len(ACTIONS) + 1, "the buttons, and Edit"
    token = runner.csrf_token("/account/sessions/")
    before = everything()
    for address in [*posts(own), *(reverse(f"admin:{name}") for name in FORMS)]:
        assert runner.post(address, {**ENTERED, "csrfmiddlewaretoken": token}).status_code == 403, address
    assert everything() == before


def test_a_platform_operator_without_an_organization_sees_no_rows(own, other):
    runner = sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)
    for kind in SEES:
        assert "own-word" not in runner.get(listed(kind)).content.decode()
    assert {runner.get(address).status_code for address in gets(own)} == {404}
    for name in ("notices_noticesettings_changelist", "notice-report"):
        assert runner.get(reverse(f"admin:{name}")).status_code == 302


def test_only_roles_that_answer_requests_read_their_words(own, signed_in):
    message = ReviewRequest.objects.get().message
    assert message in signed_in(Role.EDITOR).get(row("reviewrequest", own)).content.decode()
    auditor = signed_in(Role.AUDITOR)
    assert auditor.get(row("reviewrequest", own)).status_code == 403
