"""The test of a cloud in a browser: it works without scripts, and prints as a checklist."""

from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.people import OWNER


def test_a_cloud_can_be_tested_without_scripts_and_only_the_checklist_is_printed(site, open_page, signed_in_state):
    page = open_page(site, "/admin/custody/entry/", storage_state=signed_in_state(OWNER), java_script_enabled=False)
    page.get_by_role("link", name="Test a cloud").click()
    page.get_by_role("link", name="Google Cloud").click()
    page.get_by_label("Bucket").fill("records")
    page.get_by_role("button", name="Test").click()
    first = page.get_by_role("row", name="Configuration fail")
    expect(first).to_contain_text("secret_ref: This setting is required.")
    expect(page.get_by_label("Bucket")).to_have_value("records")
    page.get_by_label("Secret reference").fill("env:DRS_SECRET_NONE")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_role("heading", name="The test failed")).to_be_visible()
    expect(page.get_by_role("row", name="Credentials fail")).to_contain_text("Ask the operator")
    page.emulate_media(media="print")
    expect(page.get_by_role("table")).to_be_visible()
    for hidden in (page.get_by_label("Bucket"), page.get_by_role("button", name="Test"), page.locator("#header")):
        expect(hidden).to_be_hidden()


def test_a_checklist_is_accessible(site, open_page, signed_in_state):
    page = open_page(site, "/admin/custody/entry/clouds/aws/", storage_state=signed_in_state(OWNER))
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_role("heading", name="The test failed")).to_be_visible()
    assert violations(page) == []
