"""Invitations, the second factor, sessions and first steps, in a browser."""

import pyotp
import pytest
from playwright.sync_api import expect

from tests.browser.people import OWNER, accept, ask_for_code, enter, sign_in


def test_an_accepted_invitation_signs_the_person_in(site, open_page):
    page = open_page(site, site.invitation("invited@live.example", "editor"))
    expect(page.get_by_role("heading", name="Join Live Bank")).to_be_visible()
    expect(page.get_by_text("with the role editor")).to_be_visible()
    accept(site, page, "invited@live.example")
    expect(page).to_have_url(f"{site.url}/admin/")
    expect(page.get_by_text("invited@live.example")).to_be_visible()


def test_a_used_invitation_is_closed_and_links_to_sign_in(site, open_page):
    link = site.invitation("twice@live.example", "auditor")
    page = open_page(site, link)
    accept(site, page, "twice@live.example")
    expect(page).to_have_url(f"{site.url}/admin/")
    again = open_page(site, link)
    expect(again.get_by_role("heading", name="This invitation is not open")).to_be_visible()
    again.get_by_role("link", name="sign in").click()
    expect(again.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.fixture
def strict_site(site):
    site.require_second_factor(True)
    yield site
    site.require_second_factor(False)


def test_an_enrolled_app_confirms_every_later_sign_in(strict_site, open_page):
    approver = strict_site.member("approver@live.example", "approver")
    page = open_page(strict_site)
    enter(page, ask_for_code(strict_site, page, approver))
    expect(page.get_by_role("heading", name="Confirm with your app")).to_be_visible()
    picture = page.get_by_alt_text("QR code of the key below")
    assert picture.evaluate("image => image.naturalWidth") > 100, "the picture was drawn"
    app = pyotp.TOTP(page.locator("code.secret").inner_text())
    enter(page, "000000", "Confirm")
    expect(page.get_by_role("alert")).to_contain_text("This code is wrong")
    enter(page, app.now(), "Confirm")
    expect(page).to_have_url(f"{strict_site.url}/admin/")

    again = open_page(strict_site)
    enter(again, ask_for_code(strict_site, again, approver))
    expect(again.get_by_text("Enter the code that your authenticator app shows.")).to_be_visible()
    expect(again.locator("img")).to_have_count(0)
    enter(again, "000000", "Confirm")
    expect(again.get_by_role("alert")).to_be_visible()


def test_a_session_of_another_browser_can_be_ended(site, open_page):
    lost = open_page(site, user_agent="Lost Phone")
    sign_in(site, lost)
    page = open_page(site, "/account/sessions/", storage_state=site.signed_in(OWNER))
    row = page.get_by_role("listitem").filter(has_text="Lost Phone")
    row.get_by_role("button", name="End this session").click()
    expect(page.get_by_text("Lost Phone")).to_have_count(0)
    expect(page.get_by_role("listitem").filter(has_text="this one")).to_have_count(1)
    lost.goto("/admin/")
    expect(lost.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_first_steps_can_be_done_and_dismissed(site, open_page):
    newcomer = site.member("newcomer@live.example", "editor")
    page = open_page(site, "/admin/", storage_state=site.signed_in(newcomer))
    panel = page.get_by_role("region", name="First steps")
    panel.get_by_role("button", name="I've checked one").click()
    expect(panel.locator("li.done").filter(has_text="Check a receipt")).to_be_visible()
    panel.get_by_role("button", name="Dismiss").click()
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    expect(panel).to_have_count(0)


def test_the_back_office_links_to_the_sessions_and_signs_out(site, open_page):
    page = open_page(site, "/admin/", storage_state=site.signed_in(OWNER))
    page.get_by_role("link", name="Your sessions").click()
    expect(page.get_by_role("heading", name="Where you are signed in")).to_be_visible()
    page.get_by_role("link", name="To the back office").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_the_back_offices_pages_work_under_the_content_security_policy(site, open_page, signed_in_state):
    page = open_page(site, "/admin/decisions/decision/", storage_state=signed_in_state(OWNER))
    for path in ("decisions/decision/", "accounts/member/", "accounts/auditevent/"):
        page.goto(f"/admin/{path}")
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
