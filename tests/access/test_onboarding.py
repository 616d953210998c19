"""First steps: three flags of each member, set one by one or together, for the panel in the back office. A key has the
flags of the member behind it."""

from itertools import combinations
from typing import Any

import pytest

from accounts.models import Member
from accounts.roles import MEMBER_ROLES, Role
from tests.people import Browser, add_person, events, sign_in
from tests.support.undone import undone

pytestmark = pytest.mark.django_db

FLAGS = ("dismissed", "opened", "verified")
SUBSETS = [subset for size in range(4) for subset in combinations(FLAGS, size)]
PATH = "/v1/auth/onboarding"


@pytest.fixture
def browser(signed_in) -> Browser:
    return signed_in(Role.APPROVER)


def test_at_first_no_step_is_done(browser):
    assert browser.get(PATH).json() == dict.fromkeys(FLAGS, False)


def test_any_of_the_flags_may_be_sent_and_the_others_stay(browser, subtests):
    for subset in SUBSETS:
        with subtests.test(subset=subset), undone():
            browser.call("PATCH", PATH, {"opened": True})
            answer = browser.call("PATCH", PATH, dict.fromkeys(subset, True))
            expected = {flag: flag in subset or flag == "opened" for flag in FLAGS}
            assert (answer.status_code, answer.json()) == (200, expected)
            assert browser.get(PATH).json() == expected
            assert browser.call("PATCH", PATH, dict.fromkeys(subset, False)).json() == {
                flag: flag == "opened" and "opened" not in subset for flag in FLAGS
            }


def test_a_flag_is_true_or_false_and_nothing_else(browser, subtests):
    for flag in FLAGS:
        for value, shown in ((None, False), ("yes", True), (1, True), (0, True), ([], False)):
            with subtests.test(flag, value=value):
                answer = browser.call("PATCH", PATH, {flag: value})
                (problem,) = answer.json()["detail"]
                assert (answer.status_code, problem["type"], problem["loc"]) == (422, "bool_type", ["body", flag])
                assert ("input" in problem) == shown
                assert browser.get(PATH).json() == dict.fromkeys(FLAGS, False)


def test_unknown_properties_are_ignored(browser):
    assert browser.call("PATCH", PATH, {"finished": True, "opened": True}).json()["opened"] is True


# ── with a key ──


def keyed(token: str) -> Browser:
    return Browser(headers={"Authorization": f"Bearer {token}"})


def key_of(browser: Browser) -> Browser:
    """Return a client with a key that the signed-in person made."""
    return keyed(browser.call("POST", "/v1/auth/api-keys", {"name": "theirs"}).json()["api_key"])


def set_by(machine: Browser, flags: Any) -> Any:
    return machine.patch(PATH, flags, content_type="application/json")


def test_a_key_sets_the_flags_of_the_member_who_made_it(signed_in, subtests):
    for subset in SUBSETS:
        with subtests.test(subset=subset), undone():
            browser = signed_in(Role.ADMIN)
            machine = key_of(browser)
            answer = set_by(machine, dict.fromkeys(subset, True))
            assert (answer.status_code, answer.json()) == (200, {flag: flag in subset for flag in FLAGS})
            assert machine.get(PATH).json() == browser.get(PATH).json() == answer.json()


def test_a_key_that_a_key_made_sets_the_flags_of_the_member_behind_both(signed_in):
    browser = signed_in(Role.ADMIN)
    made = key_of(browser).post("/v1/auth/api-keys", {"name": "more"}, content_type="application/json").json()
    assert set_by(keyed(made["api_key"]), {"verified": True}).status_code == 200
    assert browser.get(PATH).json()["verified"] is True


@pytest.mark.parametrize("role", MEMBER_ROLES)
def test_a_key_without_a_member_has_the_organizations_flags(organization, api_for, role):
    one, other = (keyed(api_for(organization, key_role).token) for key_role in (role, Role.OWNER))
    assert set_by(one, {"opened": True}).json() == {"dismissed": False, "opened": True, "verified": False}
    assert other.get(PATH).json()["opened"] is True
    assert not Member.objects.filter(onboarding_opened=True).exists()
    (event,) = events("organization.onboarding")
    assert (event.detail, event.object_kind, event.object_id) == (
        {"opened": True},
        "organization",
        str(organization.pk),
    )


def test_once_the_member_behind_a_key_is_gone_it_has_the_organizations_flags(organization, signed_in, api, other_api):
    browser = signed_in(Role.ADMIN)
    machine = key_of(browser)
    set_by(machine, {"opened": True})
    member = organization.members.get(role=Role.ADMIN)
    add_person(other_api.organization, Role.ADMIN, member.user.email)
    api.client.delete(f"/v1/auth/members/{member.pk}?keep_keys=true")
    assert machine.get(PATH).json() == dict.fromkeys(FLAGS, False)
    set_by(machine, {"verified": True})
    assert not Member.objects.filter(onboarding_verified=True).exists()


def test_another_organizations_flags_are_its_own(api, other_api):
    set_by(keyed(api.token), {"opened": True})
    assert other_api.get(PATH).json()["opened"] is False


def test_a_wrong_type_from_a_key_gets_the_contracts_answer(api, subtests):
    for flag in FLAGS:
        for value in (None, "yes", 1, []):
            with subtests.test(flag, value=value):
                answer = set_by(keyed(api.token), {flag: value})
                (problem,) = answer.json()["detail"]
                assert (answer.status_code, problem["type"], problem["loc"]) == (422, "bool_type", ["body", flag])
                assert api.get(PATH).json() == dict.fromkeys(FLAGS, False)


# ── whose ──


def test_each_member_has_their_own_flags(organization, browser):
    other = sign_in(add_person(organization, Role.EDITOR).user.email)
    browser.call("PATCH", PATH, {"opened": True})
    assert other.get(PATH).json()["opened"] is False


def test_only_a_change_of_flags_is_in_the_audit_trail(browser):
    browser.call("PATCH", PATH, {"opened": True, "verified": False})
    assert [event.detail for event in events("member.onboarding")] == [{"opened": True, "verified": False}]
    browser.call("PATCH", PATH, {})
    assert len(events("member.onboarding")) == 1


# ── the panel ──


def panel(browser: Browser) -> str:
    """Return the first steps on the front page of the back office, or nothing."""
    page = browser.get("/admin/").content.decode()
    return page.partition('<section class="first-steps card"')[2].partition("</section>")[0]


def test_the_panel_shows_the_steps_and_can_be_dismissed(browser):
    shown = panel(browser)
    assert ("Open a decision" in shown, "Check a receipt" in shown, "Dismiss" in shown) == (True, True, True)
    assert 'class="done"' not in shown


@pytest.mark.parametrize("flag", ["opened", "verified"])
def test_a_step_is_done_with_its_button(browser, flag):
    answer = browser.submit("/admin/", f"/account/first-steps/{flag}/")
    begins = {"opened": "/admin/decisions/decision/", "verified": "/admin/"}
    assert (answer.status_code, answer["Location"]) == (302, begins[flag])
    assert browser.get(PATH).json() == {name: name == flag for name in FLAGS}
    assert panel(browser).count('class="done"') == 1
    assert f'action="/account/first-steps/{flag}/"' not in panel(browser)


def test_a_dismissed_panel_comes_back_through_the_api(browser):
    browser.submit("/admin/", "/account/first-steps/dismissed/")
    assert panel(browser) == ""
    browser.call("PATCH", PATH, {"dismissed": False})
    assert panel(browser) != ""


def test_an_unknown_step_does_not_exist_and_a_get_changes_nothing(browser):
    assert browser.submit("/admin/", "/account/first-steps/role/").status_code == 404
    assert browser.get("/account/first-steps/opened/").status_code == 405
    assert browser.get(PATH).json() == dict.fromkeys(FLAGS, False)


def test_a_person_without_a_membership_has_no_steps(browser):
    token = browser.csrf_token("/account/sessions/")
    Member.objects.filter(role="approver").delete()
    answer = browser.post("/account/first-steps/opened/", {"csrfmiddlewaretoken": token})
    assert answer.status_code == 404
