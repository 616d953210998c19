"""The loop with the person in a browser: from the public page of a letter to the letter that answers the request."""

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import violations_in_light_and_dark
from tests.browser.letters import Letter, approved

WORDS = "My income is higher than you think."


@pytest.fixture
def signed_in(site, open_page, signed_in_state) -> Callable[[str], Page]:
    """Return a function that opens the start page for a member of a role."""

    def make(role: str) -> Page:
        address = site.member(f"{role}-{secrets.token_hex(3)}@loop.example", role)
        return open_page(site, "/admin/", storage_state=signed_in_state(address))

    return make


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def assert_usable(page: Page) -> None:
    """Check that a page is accessible and fits a phone."""
    assert violations_in_light_and_dark(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.set_viewport_size({"width": 1280, "height": 900})


def test_a_request_is_answered_by_a_delivered_letter(site, open_page, signed_in):
    decision_id = f"loop-{secrets.token_hex(3)}"
    letter = approved(site, decision_id)

    reader = open_page(site, letter.path)
    reader.get_by_label("Code from your letter").fill(letter.code)
    reader.get_by_label("Your message").fill(WORDS)
    press(reader, "Ask for a review")
    expect(reader.get_by_role("heading", name="We've received your request")).to_be_visible()
    (request,) = [request for request in requests(site) if request["decision_id"] == decision_id]
    number = f"R-{request['review_request_id']}"
    expect(shown_status(reader, letter, number)).to_contain_text("A person will look at the decision again.")
    assert_usable(reader)

    page = signed_in("editor")
    page.get_by_role("link", name="asked for a review").click()
    page.get_by_role("link", name=number, exact=True).click()
    page.get_by_role("link", name="record the reconsideration").click()
    expect(page.get_by_role("region", name="What the person asks for")).to_contain_text(WORDS)
    expect(page.get_by_role("region", name="What the person asks for")).to_contain_text(letter.content["title"])
    expect(page.get_by_label("Requested by")).to_have_value(f"Avery Example ({number})")
    assert_usable(page)
    page.get_by_label("Reviewer *", exact=True).fill("A. Reviewer")
    page.get_by_label("Reviewer's authority").fill("credit officer")
    page.get_by_label("Outcome *").fill("overturned")
    page.get_by_label("Rationale").fill("The payslip shows a higher income.")
    press(page, "Record outcome")

    ends_on = page.get_by_role("region", name=f"{number} is answered: write the letter")
    expect(ends_on).to_contain_text("Recipient: Avery Example")
    expect(page.get_by_role("status", name="Recorded as")).to_be_visible()
    assert_usable(page)
    assert state(site, number) == "to_be_told"
    expect(shown_status(reader, letter, number)).to_contain_text("is being written or is on its way")
    ends_on.get_by_label("Law or policy").select_option("general")
    press(page, f"Draft the letter for {number}")
    expect(page.get_by_role("region", name="Review requests it answers")).to_contain_text(f"{number}: outcome not sent")
    written = page.url
    assert_usable(page)

    approver = signed_in("approver")
    expect(approver.get_by_role("link", name="outcome letter not sent")).to_be_visible()
    approver.goto(written)
    for tick in approver.get_by_role("group", name="I have looked").get_by_role("checkbox").all():
        tick.check()
    press(approver, "Approve")
    assert state(site, number) == "to_be_told"

    page.goto(written)
    page.get_by_label("How *", exact=True).select_option("post")
    press(page, "Deliver")
    answers = page.get_by_role("region", name="Review requests it answers")
    expect(answers).to_contain_text(f"{number}: outcome delivered on")
    assert state(site, number) == "answered"
    expect(shown_status(reader, letter, number)).to_contain_text("has been delivered")
    assert_usable(reader)
    page.get_by_role("link", name=number, exact=True).click()
    expect(page.get_by_role("definition").filter(has_text="by the letter about the outcome")).to_be_visible()
    assert_usable(page)


def shown_status(reader: Page, letter: Letter, number: str) -> Locator:
    """Return the status of a request on the public page, opened with the code."""
    reader.goto(letter.path)
    reader.get_by_role("link", name="Check your request").click()
    reader.get_by_label("Code from your letter").fill(letter.code)
    press(reader, "Show my request")
    content = reader.locator("main")
    expect(content).to_contain_text(number)
    return content


def requests(site) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = site.call("GET", "/v1/review-requests")["items"]
    return items


def state(site, number: str) -> str:
    state: str = site.call("GET", f"/v1/review-requests/{number.removeprefix('R-')}")["state"]
    return state
