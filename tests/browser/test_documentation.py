"""The API documentation page: a guide, then every operation by subject. It loads nothing from other hosts, and can send
requests."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.axe import violations, violations_in_light_and_dark
from tests.browser.service import Service

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture(scope="module")
def document(site: Service) -> dict[str, Any]:
    return site.call("GET", "/v1/openapi.json")


@pytest.fixture(scope="module")
def page(site: Service, browser: Browser, document: dict[str, Any]) -> Iterator[Page]:
    """Open the documentation with every operation, and record its requests. Any console message fails the last test.
    Rendering all operations is slow, so the tests share the page."""
    complaints: list[str] = []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.asked = []
    page.goto(f"{site.url}/docs/")
    operations = [method for methods in document["paths"].values() for method in METHODS if method in methods]
    expect(page.locator(".opblock")).to_have_count(len(operations))
    yield page
    page.close()
    assert complaints == []


# Like a click on each operation, but rendered once: a click gets slower with the number of operations.
OPEN_ALL = """() => document.querySelectorAll(".opblock").forEach(block => {
    const [, tag, operation] = block.id.split("-");
    ui.layoutActions.show(["operations", tag, operation], true);
})"""


def test_the_page_begins_with_the_guide_and_shows_the_contract_first_in_each_group(page, document):
    headings = page.get_by_role("heading").all_inner_texts()
    guide = ["API", "Start here", "Send a record", "Check its receipt", "Draft a notice", "Operations"]
    groups = page.locator(".opblock-tag").evaluate_all("headings => headings.map(heading => heading.dataset.tag)")
    assert headings[: len(guide)] == guide
    assert groups == [tag["name"] for tag in document["tags"]]
    described = {
        operation["operationId"]: (groups.index(operation["tags"][0]), not operation.get("x-contract"))
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    ids = page.locator(".opblock").evaluate_all("blocks => blocks.map(block => block.id.split('-')[2])")
    assert ids[0] == "ingest_srf"
    assert [described[operation] for operation in ids] == sorted(described.values())


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_accessible_and_fits_a_phone(page, width):
    page.set_viewport_size({"width": width, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert violations_in_light_and_dark(page) == []
    page.emulate_media(color_scheme="null")


def test_the_guide_needs_no_javascript_and_its_links_work(site, open_page):
    page = open_page(site, "/docs/", java_script_enabled=False)
    expect(page.get_by_role("heading", name="Draft a notice")).to_be_visible()
    expect(page.locator("noscript p")).to_be_visible()  # text locators skip `noscript`
    links = {link.get_attribute("href") for link in page.get_by_role("link").all()}
    assert "/v1/openapi.json" in links
    assert {page.request.get(link).status for link in links} == {200}


def test_the_page_shows_every_operation_and_loads_nothing_from_other_hosts(page, site, document):
    # Opening an operation is slow, so only the largest of each method is opened.
    largest: dict[str, tuple[int, str]] = {}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                largest[method] = max(largest.get(method, (0, "")), (len(json.dumps(methods[method])), path))
    for _, path in largest.values():
        block, methods = show_only(page, document, path), document["paths"][path]
        page.evaluate(OPEN_ALL)
        expect(block.locator(".responses-wrapper")).to_have_count(len(methods))
    assert all(url.startswith((site.url, "data:")) for url in page.asked)


def test_the_page_can_send_a_request_with_a_key(page, site, document):
    site.call("POST", "/v1/ingest/srf", b'{"decision_id": "shown-on-the-page"}')
    show_only(page, document, "/v1/decisions")
    page.locator(".btn.authorize").click()
    page.get_by_label("auth-bearer-value").fill(site.key)
    page.locator(".auth-btn-wrapper .authorize").first.click()  # the first of two: key, then session
    page.locator(".btn-done").first.click()
    operation = page.locator("#operations-Decisions-list_decisions")
    operation.locator(".opblock-summary-control").click()
    operation.locator(".execute").click()
    operation.locator(".live-responses-table").wait_for()
    assert "shown-on-the-page" in operation.locator(".live-responses-table").inner_text()
    assert violations(page, rules=["color-contrast"]) == []


def show_only(page: Page, document: dict[str, Any], path: str) -> Locator:
    """Let the page show only the operations of one path, with the schemas that they name."""
    paths = {path: document["paths"][path]}
    schemas, used, named = document["components"]["schemas"], {}, references(paths)
    while named:
        used |= {name: schemas[name] for name in named}
        named = references(used) - used.keys()
    part = {**document, "paths": paths, "components": {**document["components"], "schemas": used}}
    page.evaluate("part => ui.specActions.updateSpec(part)", json.dumps(part))
    shown = page.locator(f'.opblock:has([data-path="{path}"])')
    expect(page.locator(".opblock")).to_have_count(len(paths[path]))
    expect(shown).to_have_count(len(paths[path]))
    return shown


def references(node: Any) -> set[str]:
    return set(re.findall(r'"#/components/schemas/([^"/]+)"', json.dumps(node)))
