"""The loop with the person, in a real browser: from the public page of their letter to the letter that answers them."""

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
    """Opens the start page for a member of this role."""

    def make(role: str) -> Page:
        address = site.member(f"{role}-{secrets.token_hex(3)}@loop.example", role)
        return open_page(site, "/admin/", storage_state=signed_in_state(address))

    return make


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def is_fine(page: Page) -> None:
    """Nobody is hindered, and a telephone shows all of it."""
    assert violations_in_light_and_dark(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.set_viewport_size({"width": 1280, "height": 900})


def test_from_the_public_page_to_the_letter_that_was_delivered(site, open_page, signed_in):
    decision_id = f"loop-{secrets.token_hex(3)}"
    letter = approved(site, decision_id)

    reader = open_page(site, letter.path)
    reader.get_by_label("Code from your letter").fill(letter.code)
    reader.get_by_label("Your message").fill(WORDS)
    press(reader, "Ask for a review")
    expect(reader.get_by_role("heading", name="We've received your request")).to_be_visible()
    (asked,) = [each for each in requests(site) if each["decision_id"] == decision_id]
    number = f"R-{asked['review_request_id']}"
    where_it_stands = stand(reader, letter, number)
    expect(where_it_stands).to_contain_text("A person will look at the decision again.")
    is_fine(reader)

    page = signed_in("editor")
    page.get_by_role("link", name="asked for a review").click()
    page.get_by_role("link", name=number, exact=True).click()
    page.get_by_role("link", name="record the reconsideration").click()
    expect(page.get_by_role("region", name="What the person asks for")).to_contain_text(WORDS)
    expect(page.get_by_role("region", name="What the person asks for")).to_contain_text(letter.content["title"])
    expect(page.get_by_label("Requested by")).to_have_value(f"Avery Example ({number})")
    is_fine(page)
    page.get_by_label("Reviewer *", exact=True).fill("A. Reviewer")
    page.get_by_label("Reviewer's authority").fill("credit officer")
    page.get_by_label("Outcome *").fill("overturned")
    page.get_by_label("Rationale").fill("The payslip shows a higher income.")
    press(page, "Record outcome")

    ends_on = page.get_by_role("region", name=f"{number} is answered: write the letter")
    expect(ends_on).to_contain_text("Recipient: Avery Example")
    expect(page.get_by_role("status", name="Recorded as")).to_be_visible()
    is_fine(page)
    assert state(site, number) == "to_be_told"
    expect(stand(reader, letter, number)).to_contain_text("is being written or is on its way")
    ends_on.get_by_label("Law or policy").select_option("general")
    press(page, f"Draft the letter for {number}")
    expect(page.get_by_role("region", name="Review requests it answers")).to_contain_text(f"{number}: outcome not sent")
    written = page.url
    is_fine(page)

    approver = signed_in("approver")
    expect(approver.get_by_role("link", name="to be told the outcome")).to_be_visible()
    approver.goto(written)
    for tick in approver.get_by_role("group", name="I have looked").get_by_role("checkbox").all():
        tick.check()
    press(approver, "Approve")
    assert state(site, number) == "to_be_told"

    page.goto(written)
    page.get_by_label("How", exact=True).select_option("post")
    press(page, "Deliver")
    answers = page.get_by_role("region", name="Review requests it answers")
    expect(answers).to_contain_text(f"{number}: outcome delivered on")
    assert state(site, number) == "answered"
    expect(stand(reader, letter, number)).to_contain_text("has been delivered")
    is_fine(reader)
    page.get_by_role("link", name=number, exact=True).click()
    expect(page.get_by_role("definition").filter(has_text="by the letter about the outcome")).to_be_visible()
    is_fine(page)


def stand(reader: Page, letter: Letter, number: str) -> Locator:
    """What the public page says of the request, to its reader with the code."""
    reader.goto(letter.path)
    reader.get_by_role("link", name="Check your request").click()
    reader.get_by_label("Code from your letter").fill(letter.code)
    press(reader, "Show my request")
    said = reader.locator("main")
    expect(said).to_contain_text(number)
    return said


def requests(site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.call("GET", "/v1/review-requests")["items"]
    return found


def state(site, number: str) -> str:
    found: str = site.call("GET", f"/v1/review-requests/{number.removeprefix('R-')}")["state"]
    return found
