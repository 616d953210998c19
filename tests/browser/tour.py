"""A tour of all pages of sign-in and access, for tests of looks and for the pictures of the documents."""

from collections.abc import Iterator

import pyotp
from playwright.sync_api import Page, expect

from tests.browser.people import accept, another, ask_for_code, enter
from tests.browser.service import Service


def tour(site: Service, page: Page, newcomer: str) -> Iterator[str]:
    """Open each page in `page`, which must be in a fresh browser, and yield its name.

    Args:
        newcomer: the email address of a person who is not a member yet.
    """
    for name in _pages(site, page, newcomer):
        # After a click, the new page can appear before its stylesheets have loaded.
        page.wait_for_load_state()
        yield name


def _pages(site: Service, page: Page, newcomer: str) -> Iterator[str]:
    site.require_second_factor(True)
    link = site.invitation(newcomer, "approver")
    page.goto(link)
    yield "invitation"
    accept(site, page, newcomer)
    expect(page.get_by_role("heading", name="Confirm with your app")).to_be_visible()
    page.goto(link)
    yield "invitation gone"
    page.goto("/sign-in/")
    yield "sign in"
    page.get_by_label("Email address").fill("nothing")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    yield "sign in, refused"
    code = ask_for_code(site, page, newcomer)
    yield "code"
    enter(page, another(code))
    expect(page.get_by_role("alert")).to_be_visible()
    yield "code, refused"
    enter(page, code)
    expect(page.get_by_role("heading", name="Confirm with your app")).to_be_visible()
    yield "second factor, enrolling"
    app = pyotp.TOTP(page.locator("code.secret").inner_text())
    enter(page, app.now(), "Confirm")
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()
    yield "first steps"
    page.goto("/account/sessions/")
    yield "sessions"
    page.get_by_role("button", name="Sign out").click()
    enter(page, ask_for_code(site, page, newcomer))
    expect(page.get_by_role("heading", name="Confirm with your app")).to_be_visible()
    yield "second factor"
    site.require_second_factor(False)
