"""Policies and holds in a browser without scripts: preview, save, place and lift."""

import json

from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.people import OWNER

WIDTH = 390


def is_accessible(page: Page) -> bool:
    """Whether axe finds no problem in a page. Checks that the page fits a phone, too."""
    page.set_viewport_size({"width": WIDTH, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
    return violations(page) == []


def ingest(site, decision_id: str) -> None:
    record = {"decision_id": decision_id, "decided_at": "2020-01-02T03:04:05Z", "outcome": {"action": "refused here"}}
    site.call("POST", "/v1/ingest/srf", json.dumps(record).encode())


def test_a_policy_can_be_saved_after_its_preview(site, open_page, signed_in_state):
    ingest(site, "retention-1")
    page = open_page(site, "/admin/retention/policy/", storage_state=signed_in_state(OWNER), java_script_enabled=False)
    page.get_by_label("Keep decisions for this many days").fill("1234")
    page.get_by_label("Note").fill("By our schedule.")
    page.get_by_role("button", name="Preview what would be deleted").click()
    expect(page.get_by_role("heading", name="Keep decisions for 1234 days")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("Nothing is disposed of when you save it.")
    page.get_by_role("button", name="Save this policy").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="1234").first).to_contain_text("By our schedule.")


def test_a_hold_on_a_decision_is_lifted_with_a_reason(site, open_page, signed_in_state):
    ingest(site, "retention-2")
    admin = site.member("admin@retention.example", "admin")
    page = open_page(
        site,
        "/admin/decisions/decision/?q=retention-2",
        storage_state=signed_in_state(admin),
        java_script_enabled=False,
    )
    page.get_by_role("link", name="retention-2").click()
    page.get_by_role("link", name="Place a hold").click()
    page.get_by_label("Matter").fill("Case 9")
    page.get_by_label("Reason for the hold").fill("A claim is pending.")
    page.get_by_role("button", name="Place the hold").click()
    expect(page.get_by_text("It covers 1 decision now: retention-2")).to_be_visible()
    page.get_by_label("Reason for lifting").fill("Settled.")
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Lift the hold").click()
    expect(page.get_by_text("Settled.")).to_be_visible()


def test_the_previews_of_a_hold_and_of_a_policy_are_accessible(site, open_page, signed_in_state):
    ingest(site, "retention-3")
    page = open_page(site, "/admin/retention/hold/place/", storage_state=signed_in_state(OWNER))
    page.get_by_label("Matter").fill("Case 10")
    page.get_by_label("Reason for the hold").fill("An inquiry.")
    page.get_by_label("Action").fill("refused here")
    page.get_by_role("button", name="Count decisions").click()
    expect(page.get_by_role("status")).to_contain_text("decision")
    assert is_accessible(page)
    page.goto("/admin/retention/policy/")
    assert is_accessible(page)
    page.get_by_label("Keep decisions for this many days").fill("30")
    page.get_by_role("button", name="Preview what would be deleted").click()
    expect(page.get_by_text("would be disposed of")).to_be_visible()
    assert is_accessible(page)
