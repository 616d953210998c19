"""Notices in the back office, in a browser: people write, review, approve and deliver them, with or without a mouse.

`open_page` fails a test in which the console complains, a script fails or the content security policy refuses anything.
"""

import json
import re
import secrets
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import violations_in_light_and_dark
from tests.notices.conftest import RECORD

LONG = "incomeoftheapplicantandofeveryotherpersoninthehousehold" * 3
FACTS = {
    "loan_to_value": 0.92,
    "self_employed": False,
    LONG: LONG,
    "note": "העברה נדחתה",
    "trick": "\u202e<b>evil</b>",
}
ROLES = ("owner", "approver", "editor", "auditor")
QUEUE = "/admin/notices/notice/"


@pytest.fixture(scope="module")
def people(site) -> dict[str, str]:
    """Create a member for each role, and return their addresses."""
    return {role: site.member(f"{role}@notices.example", role) for role in ROLES}


@pytest.fixture
def signed_in(site, open_page, people, signed_in_state) -> Callable[..., Page]:
    """Return a function that opens a page of the back office for a member of a role."""

    def make(role: str, path: str, **options: Any) -> Page:
        return open_page(site, path, storage_state=signed_in_state(people[role]), **options)

    return make


def decision(site) -> dict[str, str]:
    """Ingest a new decision, and return the answer."""
    record = {**RECORD, "decision_id": f"loan-{secrets.token_hex(4)}", "events": {"application": FACTS}}
    return site.call("POST", "/v1/ingest/srf", json.dumps(record).encode())


@pytest.fixture
def notice(site) -> str:
    """Draft a notice through the API, and return the address of its page."""
    return f"{QUEUE}{drafted(site)}/change/"


def drafted(site) -> str:
    return site.call("POST", f"/v1/decisions/{decision(site)['decision_id']}/notices", b"{}")["notice_id"]


def state(page: Page) -> str:
    return page.locator(".standing .tag").inner_text()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def approve(page: Page) -> None:
    for warning in warnings(page):
        warning.check()
    press(page, "Approve")


def warnings(page: Page) -> list[Locator]:
    """Return the boxes to tick before a notice with warnings can be approved."""
    return page.get_by_role("group", name="I have looked").get_by_role("checkbox").all()


def unfold(page: Page, name: str) -> None:
    page.locator("summary").get_by_text(name, exact=True).click()


def rows(page: Page, section: str = "Why") -> Any:
    return page.get_by_role("group", name=section).locator(".rows > .row")


def save(page: Page) -> None:
    press(page, "Save a new revision")
    expect(page.get_by_text(re.compile("Saved as revision"))).to_be_visible()


def test_the_life_of_a_notice(site, signed_in):
    writer = signed_in("editor", f"/admin/decisions/decision/{decision(site)['record_id']}/change/")
    writer.get_by_label("Law or policy").select_option("general")
    press(writer, "Draft a notice")
    assert state(writer) == "draft"
    address = writer.url

    writer.get_by_role("link", name="Edit", exact=True).click()
    line = rows(writer).last
    line.get_by_label("Sentence", exact=True).fill("The loan is 92 % of the value of the house.")
    line.get_by_label("Source").fill("events.application.loan_to_value")
    expect(line.locator("output")).to_have_text("0.92")
    save(writer)
    expect(writer.get_by_role("listitem").filter(has_text="The loan is 92 %")).to_contain_text("loan to value: 0.92")
    press(writer, "Send for review")
    assert state(writer) == "in review"

    reviewer = signed_in("approver", f"{QUEUE}?queue=in_review")
    reviewer.get_by_role("row").filter(has_text="loan-").first.get_by_role("link").click()
    expect(reviewer).to_have_url(re.compile(re.escape(address)))
    reviewer.get_by_label("What needs to change?").fill("Say it simpler.")
    press(reviewer, "Request changes")
    expect(reviewer.get_by_text("Changes requested. The notice is a draft again.")).to_be_visible()

    writer.reload()
    expect(writer.get_by_text("Say it simpler.")).to_be_visible()
    writer.get_by_role("link", name="Edit", exact=True).click()
    rows(writer).nth(-2).get_by_label("Sentence", exact=True).fill("The loan is too large.")
    save(writer)
    writer.get_by_role("link", name="Compare revisions").click()
    expect(writer.locator("del").first).to_be_visible()
    expect(writer.locator("ins").first).to_be_visible()

    reviewer.goto(address)
    reviewer.get_by_label("Comment").fill("Checked against the file.")
    approve(reviewer)
    assert state(reviewer) == "approved"

    writer.goto(address)
    expect(writer.get_by_text("Checked against the file.")).to_be_visible()
    for reference in ("RR 1", "RR 2"):
        writer.get_by_label("How *", exact=True).select_option("post")
        writer.get_by_label("Tracking number").fill(reference)
        press(writer, "Deliver")
        assert state(writer) == "delivered"
        if reference == "RR 1":
            writer.get_by_label("Why it came back").fill("Moved away")
            press(writer, "It came back")
            assert state(writer) == "approved"

    unfold(writer, "New version")
    press(writer, "New version")
    expect(writer).not_to_have_url(address)
    assert state(writer) == "draft"
    reviewer.goto(writer.url)
    approve(reviewer)
    expect(reviewer.get_by_text("You wrote or edited")).to_have_count(0)
    writer.goto(address)
    assert state(writer) == "withdrawn"


def test_authors_cannot_approve_their_notice_on_page_or_api(signed_in, notice):
    page = signed_in("owner", notice.replace("change", "edit"))
    page.get_by_label("Title").fill("Mine")
    save(page)
    button = page.get_by_role("button", name="Approve", exact=True)
    expect(button).to_be_disabled()
    expect(button).to_have_accessible_description("You wrote or edited this notice. Ask another person to approve it.")
    number = notice.split("/")[-3]
    statuses = page.evaluate(
        """async ([number, form]) => {
            const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
            const entered = new URLSearchParams({csrfmiddlewaretoken: token, revision: 2});
            const page = await fetch(form, {method: "POST", body: entered});
            const me = await (await fetch("/v1/auth/me")).json();
            const headers = {"X-CSRFToken": me.csrf_token, "Content-Type": "application/json"};
            const api = (body) => fetch(`/v1/notices/${number}/approve`, {method: "POST", headers, body});
            const asOther = JSON.stringify({approver: "Another Person", authority: "any"});
            return [page.status, (await api("{}")).status, (await api(asOther)).status];
        }""",
        [number, f"{QUEUE}{number}/do/approve/"],
    )
    assert statuses == [409, 409, 409]
    page.reload()
    assert state(page) == "draft"


def test_a_notice_that_changed_during_review_is_not_approved_unseen(signed_in, notice):
    reviewer = signed_in("approver", notice)
    reviewer.get_by_label("Comment").fill("Typed before the change.")
    writer = signed_in("editor", notice.replace("change", "edit"))
    writer.get_by_label("Title").fill("Another title")
    save(writer)
    approve(reviewer)
    expect(reviewer.get_by_role("alert")).to_contain_text("The notice has changed")
    expect(reviewer.get_by_role("heading", name="Another title")).to_be_visible()
    expect(reviewer.get_by_label("Comment")).to_have_value("Typed before the change.")
    approve(reviewer)
    assert state(reviewer) == "approved"


def test_the_keyboard_is_enough_to_read_and_approve_a_notice(signed_in, notice):
    page = signed_in("approver", notice)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog")
    for label in ("Approve", "Send for review", "Preview the letter", "Withdraw", "Next line", "Start page"):
        expect(keys.get_by_role("row", name=label)).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    for key, number in (("j", "1"), ("j", "2"), ("j", "3"), ("k", "2")):
        page.keyboard.press(key)
        expect(page.locator(":focus")).to_have_attribute("value", number)
    assert page.locator(":focus").evaluate("element => getComputedStyle(element).outlineStyle") != "none"
    page.keyboard.press("a")
    expect(page.get_by_label("Comment")).to_be_focused()
    page.keyboard.type("Read aloud.")
    reached = ""
    while reached != "Approve":
        page.keyboard.press("Tab")
        focus = page.locator(":focus")
        if focus.get_attribute("type") == "checkbox":
            page.keyboard.press("Space")
        reached = focus.inner_text()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Approved.", exact=True)).to_be_visible()
    expect(page.get_by_text("Read aloud.")).to_be_visible()


def test_a_key_opens_a_closed_section(signed_in, notice):
    page = signed_in("approver", notice)
    button = page.get_by_role("button", name="Withdraw", exact=True)
    expect(button).to_be_hidden()
    page.keyboard.press("w")
    expect(button).to_be_visible()
    unfold(page, "Not possible now")
    expect(page.get_by_role("button", name="New version", exact=True)).to_be_disabled()


def test_the_first_screen_has_the_letter_and_the_next_step_and_a_link_to_it_stays_in_sight(signed_in, notice):
    """No part of the page scrolls separately, and a link leads back from the end of a letter."""
    page = signed_in("approver", notice, viewport={"width": 1280, "height": 800})
    expect(page.locator(".sentences li").first).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_in_viewport(ratio=1)
    side = page.locator(".check-side")
    assert side.evaluate("e => e.scrollHeight <= e.clientHeight + 1"), "it does not scroll separately"
    page.get_by_text("No review by a person is offered.").scroll_into_view_if_needed()
    link = page.get_by_role("link", name="Next step")
    expect(link).to_be_in_viewport(ratio=1)
    link.click()
    expect(page.get_by_role("heading", name="Next step")).to_be_in_viewport()


def test_the_queue_shows_deadline_and_state_on_a_phone(site, signed_in):
    site.call("POST", f"/v1/decisions/{decision(site)['decision_id']}/notices", b'{"pack": "us_ecoa_fcra"}')
    page = signed_in("approver", QUEUE, viewport={"width": 360, "height": 740})
    for column in ("due", "where_it_stands"):
        box = page.locator(f"td.field-{column}").first.bounding_box()
        assert box["x"] + box["width"] <= 360, column


def test_sentences_can_be_added_moved_and_removed_and_leaving_asks_first(signed_in, notice):
    page = signed_in("editor", notice.replace("change", "edit"))
    before = rows(page).count()
    press_in = page.get_by_role("group", name="Why").get_by_role("button", name="Add a sentence")
    for words in ("First.", "Second."):
        press_in.click()
        line = rows(page).last
        expect(line.get_by_label("Sentence", exact=True)).to_be_focused()
        page.keyboard.type(words)
        line.get_by_label("Source").fill("outcome.action")
        page.keyboard.press("Enter")  # saves nothing yet
    page.get_by_role("group", name="Why").get_by_role("button", name=f"Move sentence {before + 2} up").click()
    rows(page).first.get_by_label("Remove").check()
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.get_by_role("link", name="Leave without saving").click()
    expect(page).to_have_url(re.compile("/edit/$"))
    assert asked == ["beforeunload"]
    save(page)
    items = page.get_by_role("region", name="Why").get_by_role("listitem")
    assert [text.split("\n")[0] for text in items.all_inner_texts()][-2:] == ["Second.", "First."]
    assert items.count() == before - 2 + 2, "without the empty line and the first, and with two more"


def test_a_notice_can_be_edited_and_approved_without_scripts(signed_in, notice):
    page = signed_in("editor", notice.replace("change", "edit"), java_script_enabled=False)
    line = rows(page).last
    line.get_by_label("Sentence", exact=True).fill("First of all.")
    line.get_by_label("Source").fill("outcome.reasons.0")
    line.get_by_label("Place").fill("0")
    rows(page).first.get_by_label("Remove").check()
    save(page)
    expect(page.get_by_role("region", name="Why").get_by_role("listitem").first).to_contain_text("First of all.")
    reviewer = signed_in("approver", notice, java_script_enabled=False)
    approve(reviewer)
    assert state(reviewer) == "approved"
    press_and_confirm(reviewer)
    assert state(reviewer) == "withdrawn"


def press_and_confirm(page: Page) -> None:
    """Open the closed section, withdraw the notice, and confirm."""
    unfold(page, "Withdraw")
    press(page, "Withdraw")
    assert state(page) == "approved", "not before the box is ticked"
    page.get_by_label("I am sure").check()
    press(page, "Withdraw")


def test_the_preview_has_its_own_content_security_policy(signed_in, notice):
    page = signed_in("auditor", notice)
    page.get_by_role("link", name="Preview the letter").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("Draft", exact=False).first).to_be_visible()
    assert page.evaluate("document.styleSheets[0].cssRules.length") > 0, "its style is not refused"


def test_a_printed_page_has_the_whole_notice_and_no_buttons(signed_in, notice):
    page = signed_in("approver", notice)
    page.emulate_media(media="print")
    expect(page.locator(".sentences li").last).to_be_visible()
    expect(page.get_by_role("heading", name="Checklist")).to_be_visible()
    for name in ("Approve", "Withdraw"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_hidden()
    expect(page.get_by_role("heading", name="Next step")).to_be_hidden()


# ── every page ──


@pytest.fixture(scope="module")
def pages(site) -> list[str]:
    """Fill the pages of notices, and return their addresses."""
    unfinished, offering = drafted(site), drafted(site)
    content = {
        "main_factors": [
            {"statement": RECORD["outcome"]["reasons"][0], "source": "outcome.reasons.0"},
            {"statement": LONG, "source": f"events.application.{LONG}"},
            {"statement": "<b>Bold</b> \u202etrick", "source": "no.such.field"},
        ],
        "human_review_available": True,
        "how_to_request_review": "On the page of this letter.",
    }
    for number in (unfinished, offering):
        site.call("PATCH", f"/v1/notices/{number}", json.dumps({"content": content}).encode())
    content["main_factors"].pop()
    site.call("PATCH", f"/v1/notices/{offering}", json.dumps({"content": content}).encode())
    seen = [warning["id"] for warning in site.call("GET", f"/v1/notices/{offering}")["warnings"]]
    claim = {"approver": "Reviewer 7", "authority": "credit officer", "acknowledge": seen}
    site.call("POST", f"/v1/notices/{offering}/approve", json.dumps(claim).encode())
    site.call("POST", f"/v1/notices/{offering}/deliveries", b'{"channel": "post", "address": "1 Example Street"}')
    email = site.member("granted@notices.example", "approver")
    grant = {"email": email, "authority": LONG, "valid_from": str(date.today())}
    organization = site.call("GET", "/v1/auth/organization")["slug"]
    # The key of the site invited the member, so it grants them nothing.
    named = ["--organization", organization, "--name", "grants", "--role", "admin"]
    other_key = site.live.manage("create_api_key", *named)
    with site.live.client(other_key) as client:
        answer = client.request("POST", "/v1/authority-grants", json.dumps(grant).encode())
        assert answer.status == 201, answer.body
    return [
        QUEUE,
        f"{QUEUE}?queue=overdue",
        *(f"{QUEUE}{unfinished}/{name}/" for name in ("change", "edit", "compare")),
        f"{QUEUE}{offering}/change/",
        "/admin/notices/phrase/",
        "/admin/notices/phrase/put/",
        "/admin/notices/phrase/import/",
        "/admin/notices/authoritygrant/",
        "/admin/notices/authoritygrant/grant/",
        "/admin/notices/noticesettings/",
        "/admin/notices/noticesettings/packs/",
        "/admin/notices/noticesettings/packs/us_ecoa_fcra/",
        "/admin/notices/noticesettings/report/",
        "/admin/notices/reviewrequest/",
        f"/admin/notices/reviewrequest/{asked(site, offering)}/change/",
    ]


def asked(site, number: str) -> str:
    """Ask for a review as the person does, and return the request's number."""
    with site.live.client() as client:
        letter = client.get(f"/v1/notices/{number}/letter?format=text").body.decode()
    code = re.search(r"(?<![\w-])[A-Z2-7]{4}-[A-Z2-7]{4}(?![\w-])", letter).group()
    site.live.manage(
        "shell", "-v", "0", "-c",
        "from notices import selectors, services; from notices.models import Notice;"
        f"n = selectors.published(Notice.objects.get(pk='{number}').address);"
        f"services.request_review(notice=n, code='{code}', message='<b>Please</b> look again. ' + 'x' * 200)",
    )  # fmt: skip
    requests = site.call("GET", "/v1/review-requests")["items"]
    (request,) = [request for request in requests if request["notice_id"] == number]
    return request["review_request_id"]


def test_every_page_is_accessible_and_fits_the_screen(signed_in, pages):
    page, results = signed_in("owner", QUEUE), {}
    for path in pages:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto(path)
        faults, widths = violations_in_light_and_dark(page), []
        for width in (360, 3840):
            page.set_viewport_size({"width": width, "height": 740})
            widths.append(page.evaluate("document.documentElement.scrollWidth"))
        results[path] = (faults, widths)
    assert results == dict.fromkeys(pages, ([], [360, 3840]))
