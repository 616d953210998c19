"""The set-up of a connector in a browser without scripts, from its preview to its first records."""

import json
from pathlib import Path

from playwright.sync_api import expect

from tests.browser.axe import violations
from tests.browser.people import OWNER
from tests.system.live import wait_until


def test_a_connector_can_be_previewed_tested_created_and_fixed_without_scripts(site, open_page, signed_in_state):
    folder = Path(site.live.environment["CONNECTOR_DIRECTORIES"]) / "claims"
    folder.mkdir()
    (folder / "claims.ndjson").write_text('{"claim": {"no": 71}, "amount": 1.50}\n{"claim": {}}\n')
    page = open_page(
        site, "/admin/connectors/connector/", storage_state=signed_in_state(OWNER), java_script_enabled=False
    )
    page.get_by_role("link", name="Create a connector").first.click()
    page.get_by_role("link", name="Folder").click()
    page.get_by_label("Name").fill("Claims")
    page.get_by_label("Path").fill(str(folder))
    page.get_by_label("Field map").fill(json.dumps({"fields": {"decision_id": "/claim/no"}}))
    page.get_by_label("Item to preview").fill('{"claim": {"no": 71}, "amount": 1.50}')
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text('{"decision_id":"71","original":{"claim": {"no": 71}, "amount": 1.50}}')).to_be_visible()
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_role("heading", name="The test succeeded")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Sample")).to_contain_text("71")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Claims")).to_be_visible()
    wait_until(lambda: page.reload() and page.get_by_text("nothing at /claim/no").count(), "it is polled")
    page.get_by_role("button", name="Dismiss", exact=True).click()
    expect(page.get_by_text("The quarantine is empty.")).to_be_visible()
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_label("Path")).to_have_value(str(folder))
    page.get_by_label("Path").fill("/etc")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Connectors may not read there")).to_be_visible()
    page.get_by_label("I am sure").last.check()
    page.get_by_role("button", name="Delete this connector").click()
    expect(page.get_by_text("Deleted. Its records stay in custody.")).to_be_visible()


def test_the_results_of_a_test_and_a_preview_are_accessible(site, open_page, signed_in_state):
    page = open_page(site, "/admin/connectors/connector/create/http_json/", storage_state=signed_in_state(OWNER))
    page.get_by_label("Name").fill("Claims")
    page.get_by_label("URL").fill("https://127.0.0.1/")
    page.get_by_label("Item to preview").fill("[]")
    for button, shown in (("Preview", "This item cannot become a record"), ("Test", "The test failed")):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_role("heading", name=shown)).to_be_visible()
        assert violations(page) == []
