"""A decision's page and the report in a browser: they fit a phone, and work without a mouse.

`open_page` fails a test in which the console complains, a script fails or the content security policy refuses anything.
"""

import json

import pytest
from playwright.sync_api import Page, expect

from tests.reconsiderations.conftest import REVIEW

LONG = "incomeoftheapplicantandofeveryotherpersoninthehouseholdaccordingtothefile" * 2
RECORD = {
    "decision_id": f"loan-{'x' * 90}",
    "decided_at": "2026-01-02T03:04:05Z",
    "subject": {"reference": f"application {'9' * 60}"},
    "system": {"name": "Example Scorecard", "version": "3.2"},
    "events": {LONG: LONG, "note": "העברה נדחתה", "\u202etrick": "\u202eevil"},
    "outcome": {"action": "denied", "reasons": ["<b>Payments</b> are 46 % of income; the limit is 40 %."]},
}
LOOKS = "e => { const s = getComputedStyle(e); return [s.outlineStyle, s.borderColor, s.backgroundColor].join() }"
TELEPHONE = {"viewport": {"width": 360, "height": 740}}


@pytest.fixture(scope="module")
def decision(site):
    """Ingest a decision with two reviews and very long names, and return the address of its page."""
    receipt = site.call("POST", "/v1/ingest/srf", json.dumps(RECORD).encode())
    for changes in ({"outcome": "upheld", "new_action": None}, {"reviewer_authority": LONG, "reviewer": "תמר"}):
        body = json.dumps({**REVIEW, **changes}).encode()
        site.call("POST", f"/v1/decisions/{RECORD['decision_id']}/reconsideration", body)
    return f"/admin/decisions/decision/{receipt['record_id']}/change/"


@pytest.fixture(scope="module")
def people(site):
    """Create a member for each role, and return their addresses."""
    return {role: site.member(f"{role}@reviews.example", role) for role in ("editor", "auditor")}


@pytest.fixture
def signed_in(site, open_page, people, signed_in_state):
    """Return a function that opens a page of the back office for a member of a role."""

    def make(role: str, path: str, **options) -> Page:
        return open_page(site, path, storage_state=signed_in_state(people[role]), **options)

    return make


def is_wider_than_the_screen(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")


def too_wide(page: Page) -> list[str]:
    """Return the elements that are wider than the screen."""
    return page.evaluate(
        "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.tagName + '.' + e.className)"
    )


def fill_in(page: Page) -> None:
    page.get_by_role("link", name="Record a reconsideration").click()
    page.get_by_label("Requested by").fill("the applicant")
    page.get_by_label("Reviewer *", exact=True).fill("A. Reviewer")
    page.get_by_label("Reviewer's authority").fill("credit officer")
    page.get_by_label("Outcome *").fill("overturned")
    page.get_by_label("New action").fill("approved")
    page.get_by_label("Rationale").fill("First line.\nSecond line.")
    page.get_by_label("Evidence considered").fill("payslip of March\nletter of 4 May")


def test_a_recorded_review_shows_its_salts_and_reloading_records_no_other(site, signed_in, decision):
    page = signed_in("editor", decision)
    before = page.get_by_role("listitem").filter(has_text="loan-").count()
    fill_in(page)
    page.get_by_role("button", name="Record outcome").click()
    status = page.get_by_role("status")
    expect(status).to_contain_text("Recorded as reconsideration-")
    expect(status.get_by_role("row")).to_have_count(3)
    recorded = status.get_by_role("heading").inner_text().removeprefix("Recorded as ").strip()
    texts = {"rationale": "First line.\nSecond line.", "evidence_considered": ["payslip of March", "letter of 4 May"]}
    checked = site.call("POST", f"/v1/decisions/{recorded}/reconsideration/check", json.dumps(texts).encode())
    assert checked == {"rationale": True, "evidence_considered": [True, True]}
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Review of loan-")
    expect(page.locator(".summary").get_by_text(recorded)).to_be_visible()
    page.goto(decision)
    expect(page.get_by_role("status")).to_have_count(0)
    expect(page.locator(".timeline li")).to_have_count(before + 1)


def test_a_refused_form_has_an_error_at_its_field_and_keeps_all_but_the_texts(signed_in, decision):
    page = signed_in("editor", decision)
    fill_in(page)
    page.get_by_label("Reviewer's authority").fill(" ")
    page.get_by_role("button", name="Record outcome").click()
    authority = page.get_by_label("Reviewer's authority")
    expect(authority).to_have_attribute("aria-invalid", "true")
    described_by = "Enter the role that may change the decision, for example credit officer. This field is required."
    expect(authority).to_have_accessible_description(described_by)
    expect(page.get_by_label("Requested by")).to_have_value("the applicant")
    for label in ("Rationale", "Evidence considered"):
        expect(page.get_by_label(label)).to_have_value("")


def test_the_keyboard_is_enough_to_record_a_review(signed_in, decision):
    page = signed_in("editor", decision)
    answers = ["the applicant", "A. Reviewer", "credit officer", "upheld", "", "A rationale.", "", None]
    page.get_by_role("link", name="Record a reconsideration").click()
    page.get_by_label("Requested by").focus()
    for answer in answers:
        focused = page.locator(":focus")
        others = page.locator("form input[type=text]:not(:focus)").last
        assert focused.evaluate(LOOKS) != others.evaluate(LOOKS), "the focus is visible"
        if answer is None:
            assert focused.inner_text() == "Record outcome"
            page.keyboard.press("Enter")
        else:
            page.keyboard.type(answer)
            page.keyboard.press("Tab")
    expect(page.get_by_role("status")).to_contain_text("Recorded as reconsideration-")


def test_an_auditor_sees_a_disabled_button_with_a_reason(signed_in, decision):
    page = signed_in("auditor", decision)
    form = decision.replace("/change/", "/reconsider/")
    for path, name in ((decision, "Record a reconsideration"), (form, "Record outcome")):
        page.goto(path)
        expect(page.get_by_role("button", name=name)).to_be_disabled()
        expect(page.get_by_text("Your role, auditor, may not record and check reconsiderations.")).to_be_visible()
        expect(page.get_by_label("Rationale")).to_have_count(0)


def test_no_page_is_wider_than_a_phone(signed_in, decision):
    page = signed_in("editor", decision, **TELEPHONE)
    for path in (decision, "/admin/decisions/decision/reports/?by=authority", "/admin/"):
        page.goto(path)
        assert not is_wider_than_the_screen(page), (path, too_wide(page))


def test_the_form_and_the_page_after_recording_fit_a_phone_and_the_next_form_is_empty(signed_in, decision):
    page = signed_in("editor", decision, **TELEPHONE)
    fill_in(page)
    assert not is_wider_than_the_screen(page), too_wide(page)
    page.get_by_role("button", name="Record outcome").click()
    expect(page.get_by_role("status")).to_be_visible()
    assert not is_wider_than_the_screen(page), too_wide(page)
    page.get_by_role("link", name="Record a reconsideration").click()
    for label in ("Rationale", "Evidence considered", "Requested by"):
        expect(page.get_by_label(label)).to_have_value("")


def test_text_of_a_record_is_isolated_and_is_not_markup(signed_in, decision):
    page = signed_in("editor", decision)
    path, value = (
        page.get_by_role(role).filter(has_text=text).last.bounding_box()
        for role, text in (("term", "trick"), ("definition", "evil"))
    )
    assert path["x"] < value["x"]
    expect(page.locator("bdi").filter(has_text="תמר")).to_have_css("unicode-bidi", "isolate")
    expect(page.get_by_role("definition").filter(has_text="<b>Payments</b> are 46 %").last).to_be_visible()


def test_the_report_has_a_bar_for_each_group_and_a_csv_file(signed_in, decision):
    page = signed_in("auditor", "/admin/")
    page.get_by_role("link", name="Decisions changed on review").click()
    expect(page.get_by_role("img")).to_be_visible()
    page.get_by_role("link", name="Outcome").click()
    expect(page.get_by_role("navigation", name="Group by").locator("[aria-current=page]")).to_have_text("Outcome")
    assert page.locator("svg.chart rect.bar").count() == page.locator(".record-page tbody tr").count() >= 2
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.suggested_filename == "reconsiderations-by-outcome.csv"
