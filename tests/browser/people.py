"""Actions of people in a browser."""

from playwright.sync_api import Page, expect

from tests.browser.service import Service

OWNER = "owner@live.example"


def ask_for_code(site: Service, page: Page, address: str) -> str:
    """Enter an address on the sign-in page, and return the code in the mail."""

    def ask() -> None:
        page.get_by_label("Email address").fill(address)
        page.get_by_role("button", name="Email me a code").click()
        expect(page.get_by_role("heading", name="Enter the code")).to_be_visible()

    return site.code(address, ask)


def enter(page: Page, code: str, button: str = "Sign in") -> None:
    page.get_by_label("Code").fill(code)
    page.get_by_role("button", name=button).click()


def accept(site: Service, page: Page, address: str) -> None:
    """Request the code on the page of an invitation, and enter it."""
    code = site.code(address, page.get_by_role("button", name="Email me a code").click)
    enter(page, code, "Accept and sign in")


def sign_in(site: Service, page: Page, address: str = OWNER) -> None:
    enter(page, ask_for_code(site, page, address))
    expect(page.get_by_role("heading", name="Start", exact=True)).to_be_visible()


def another(code: str) -> str:
    """Return another code of six digits."""
    return f"{(int(code) + 1) % 10**6:06}"
