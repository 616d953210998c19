"""The walk of docs/operators-guide.md: one sample denial through the back office, with a picture of each step."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser, Locator, Page, expect

from docs.camera import fit, shoot
from tests.browser.people import sign_in
from tests.browser.service import Service

OWNER = "owner@demo.example"
OPERATOR = "operator@demo.example"
DECISION = "boston-hmda-1990-9"
SOURCE = "events.application.denied_mortgage_insurance"
FIRST_WORDS = "Mortgage insurance was a problem."
LAST_WORDS = "Mortgage insurance was denied to you."
CHANGES = "Say that the insurance was denied. “A problem” tells the applicant nothing."
MESSAGE = "Another insurer has agreed since. I can send you the letter."

REVIEW = {
    "reviewer": "reviewer 12",
    "reviewer_authority": "credit officer",
    "outcome": "overturned",
    "new_action": "approved",
    "rationale": "Another insurer insures the loan.",
    "evidence_considered": "letter of the insurer",
}


def walk(browser: Browser, site: Service) -> None:
    """Follow the decision from its record to the answered request, by the two people of the demo and the reader."""
    writer, approver = _signed_in(browser, site, OWNER), _signed_in(browser, site, OPERATOR)
    _begin(writer)
    _open(writer)
    notice = writer.url
    _edit(writer)
    _send_to_review(writer)
    _ask_for_changes(approver, notice)
    _correct(writer)
    _compare(writer)
    _send_to_review(writer)
    _approve(approver, notice)
    with TemporaryDirectory() as directory:
        letter = _letter(writer, notice, Path(directory) / "letter.pdf")
        _deliver(writer)
        _read(browser, site, writer, letter)
    _answer(approver)
    _report(writer)
    _others(approver, notice)
    writer.context.close()
    approver.context.close()


def _signed_in(browser: Browser, site: Service, who: str) -> Page:
    context = browser.new_context(base_url=site.url, viewport={"width": 1200, "height": 800}, color_scheme="light")
    page = context.new_page()
    page.goto("/sign-in/")
    sign_in(site, page, who)
    return page


def _begin(page: Page) -> None:
    page.goto("/admin/")
    shoot(page, "guide-start", page.get_by_role("banner"), page.locator("main"))
    page.goto("/admin/notices/notice/")
    shoot(page, "guide-queue", page.get_by_role("banner"), page.locator("#result_list tr").nth(8))


def _open(page: Page) -> None:
    """Go from the queue to the draft, and to its decision."""
    page.get_by_role("link", name=re.compile(rf"{DECISION}\b")).click()
    shoot(
        page, "guide-blocked", page.get_by_role("heading", level=1), _section(page, "Why"), _section(page, "Warnings")
    )
    checklist = _section(page, "Checklist")
    shoot(page, "guide-checklist", checklist.get_by_role("heading"), checklist.get_by_text(re.compile("present$")))
    page.get_by_role("link", name="The decision").click()
    shoot(page, "guide-record", page.locator(".summary"))
    shoot(page, "guide-draft", _section(page, "Notices"))
    page.go_back()


def _edit(page: Page) -> None:
    page.get_by_role("link", name="Edit", exact=True).click()
    why = page.get_by_role("group", name="Why")
    why.get_by_label("Sentence").first.fill(FIRST_WORDS)
    why.get_by_label("Source").first.fill(SOURCE)
    why.get_by_label("Sentence").first.focus()  # so that the source is seen from its beginning
    shoot(page, "guide-edit", why)
    page.get_by_label("A person will look at it again if asked").check()
    page.get_by_label("How to ask for a review", exact=True).fill("You can ask for a review on the page named below.")
    page.get_by_role("button", name="Save a new revision").click()
    form = _act(page, "approve")
    shoot(page, "guide-four-eyes", form.get_by_role("button"), form.locator(".why"))


def _send_to_review(page: Page) -> None:
    page.get_by_role("button", name="Send for review").click()
    expect(page.get_by_text("Sent for review.")).to_be_visible()


def _ask_for_changes(page: Page, notice: str) -> None:
    page.goto(notice)
    form = _act(page, "request-changes")
    form.get_by_label("What needs to change?").fill(CHANGES)
    shoot(page, "guide-request-changes", form.get_by_text("What needs to change?"), form.get_by_role("button"))
    form.get_by_role("button").click()
    expect(page.get_by_text("Changes requested. The notice is a draft again.")).to_be_visible()


def _correct(page: Page) -> None:
    page.reload()
    page.get_by_role("link", name="Edit", exact=True).click()
    page.get_by_role("group", name="Why").get_by_label("Sentence").first.fill(LAST_WORDS)
    page.get_by_role("button", name="Save a new revision").click()


def _compare(page: Page) -> None:
    page.get_by_role("link", name="Compare revisions").click()
    shoot(page, "guide-compare", page.get_by_role("heading", level=1), page.locator(".difference").last)
    page.go_back()


def _approve(page: Page, notice: str) -> None:
    page.goto(notice)
    form = _act(page, "approve")
    form.get_by_label("Authority").fill("credit officer")
    form.get_by_label("Comment").fill("Checked against the loan officer's file.")
    for tick in form.get_by_role("checkbox").all():
        tick.check()
    shoot(page, "guide-approve", page.get_by_role("heading", name="Next step"), form.get_by_role("button"))
    form.get_by_role("button").click()
    expect(page.get_by_text("Approved.", exact=True)).to_be_visible()


def _letter(page: Page, notice: str, file: Path) -> Path:
    page.goto(notice)
    answer = page.request.get(f"{notice.removesuffix('change/')}letter/?format=pdf")
    file.write_bytes(answer.body())
    first, last = _viewer(page, f"{answer.url}#page=1", 1060), _viewer(page, f"{answer.url}#page=2", 760)
    shoot(first, "guide-letter")
    shoot(last, "guide-letter-end")
    first.close()
    last.close()
    return file


def _viewer(page: Page, address: str, height: int) -> Page:
    """Return the browser's PDF viewer, with a sheet as wide as the window."""
    viewer = page.context.new_page()
    viewer.set_viewport_size({"width": 760, "height": height})
    viewer.goto(f"{address}&toolbar=0&navpanes=0&view=FitH")
    viewer.wait_for_timeout(3000)  # it does not say when it has drawn
    return viewer


def _deliver(page: Page) -> None:
    form = _act(page, "deliver")
    form.get_by_label("How").select_option("post")
    form.get_by_label("Address").fill("2 Example Street, Example City")
    form.get_by_label("Tracking number").fill("EX-0002")
    form.get_by_role("button").click()
    expect(page.get_by_text("The delivery is recorded.")).to_be_visible()
    shoot(page, "guide-delivered", page.locator(".standing"), _section(page, "Why"), _section(page, "Deliveries"))


def _read(browser: Browser, site: Service, writer: Page, letter: Path) -> None:
    """Read the letter: open the public page, check the file, and request a review."""
    text = writer.request.get(f"{writer.url.removesuffix('change/')}letter/?format=text").text()
    address = next(word for word in text.split() if "/n/" in word)
    code = next(word for word in text.split() if len(word.strip(".")) == 9 and word[4] == "-")
    page = browser.new_page(base_url=site.url, viewport={"width": 760, "height": 800}, color_scheme="light")
    page.goto(address)
    shoot(page, "guide-public", page.get_by_role("heading", level=1), page.locator("#chooser"))
    page.get_by_label("Choose the file").set_input_files(letter)
    expect(page.locator(".verdict h3")).to_be_focused()
    shoot(page, "guide-public-checked", page.locator(".verdict"), page.locator(".statement").nth(2))
    page.get_by_label("Code from your letter").fill(code)
    page.get_by_label("Your message").fill(MESSAGE)
    page.get_by_role("button", name="Ask for a review").click()
    expect(page.get_by_role("heading", name="We've received your request")).to_be_visible()
    fit(page)
    shoot(page, "guide-public-taken")
    page.close()


def _answer(page: Page) -> None:
    page.goto("/admin/notices/reviewrequest/")
    page.locator("#result_list tbody th a").click()
    request = page.url
    shoot(page, "guide-request", page.locator(".record-page"))
    page.get_by_role("link", name=DECISION).first.click()
    page.get_by_role("link", name="Record a reconsideration").click()
    for field, text in REVIEW.items():
        page.locator(f"#id_{field}").fill(text)
    shoot(page, "guide-reconsider", page.locator(".record-page"))
    page.get_by_role("button", name="Record outcome").click()
    recorded = page.get_by_role("status", name="Recorded as")
    expect(recorded).to_be_visible()
    shoot(page, "guide-reconsidered", page.get_by_role("heading", level=1), recorded)
    page.goto(request)
    write = page.get_by_role("region", name="is answered: write the letter")
    shoot(page, "guide-answered", page.locator(".facts"), write)


def _report(page: Page) -> None:
    page.goto("/admin/")
    page.get_by_role("link", name="Reports", exact=True).click()
    shoot(page, "guide-report", page.locator(".record-page"))


def _others(page: Page, notice: str) -> None:
    page.goto(notice)
    page.keyboard.press("?")
    shoot(page, "guide-keys", page.get_by_role("dialog"))
    page.keyboard.press("Escape")
    page.emulate_media(color_scheme="dark")
    shoot(page, "guide-dark")


def _section(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=title)


def _act(page: Page, name: str) -> Locator:
    """Return the form of an action on the notice."""
    return page.locator(f"form[action$='/do/{name}/']")
