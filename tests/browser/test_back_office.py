"""The back office in a browser: pages are accessible, fit any screen, and work without a mouse or scripts.

`open_page` fails a test in which the console complains, a script fails or the content security policy refuses anything.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.letters import approved
from tests.browser.looks import LOOKS_RULES, look, too_wide
from tests.browser.rules import broken_rules
from tests.browser.walk import Walk, shape
from tests.reconsiderations.conftest import REVIEW
from tests.system.live import wait_until

RECORD = {
    "decision_id": "page-1",
    "system": {"name": "Example Scorecard"},
    "subject": {"reference": "application 1"},
    "outcome": {"action": "denied", "reasons": ["Payments are 46 % of income.", "ב"]},
    "events": {f"step {number}": {"a.b": number, "long": "incomeoftheapplicant" * 20} for number in range(20)},
}
LISTS = ["decisions/decision", "decisions/reconsideration", "accounts/member", "accounts/invite", "accounts/apikey",
         "accounts/auditevent", "custody/entry", "custody/key", "connectors/connector", "retention/hold",
         "notices/notice", "notices/phrase"]  # fmt: skip
# One page of each shape that the walk must reach, among all others.
SOME_PAGES = {f"/admin/{path}/" for path in LISTS} | {
    "/admin/notices/notice/N/change/", "/admin/decisions/decision/N/change/",
    "/admin/accounts/apikey/create/", "/admin/connectors/connector/create/postgres/", "/admin/custody/storagetarget/",
    "/admin/custody/entry/clouds/azure/", "/admin/retention/policy/", "/admin/retention/hold/place/",
    "/admin/notices/noticesettings/", "/admin/notices/noticesettings/packs/us_ecoa_fcra/",
    "/admin/decisions/decision/reports/",
}  # fmt: skip
# Names of models, apps and columns, and their spelling in addresses.
CODES = r"\b(entr(y|ies)|storage targets?|authority grants?|notice ?settings|audit ?events?|apikey|changelist)\b"


@pytest.fixture(scope="module")
def owner(site) -> str:
    """Fill every page of an organization, and return the address of its owner."""
    for record in ({**RECORD, "decision_id": f"page-{number}"} for number in range(1, 5)):
        site.call("POST", "/v1/ingest/srf", json.dumps(record).encode())
    site.call("POST", "/v1/decisions/page-1/reconsideration", json.dumps(REVIEW).encode())
    site.call("POST", "/v1/auth/api-keys", b'{"name": "nightly import"}')
    site.call("POST", "/v1/auth/invites", b'{"email": "invited@pages.example", "role": "editor"}')
    site.call("PUT", "/v1/retention", b'{"days": 365, "note": "By our schedule of records."}')
    hold = {"matter": "Case 7", "reason": "A claim is pending.", "decision_id": "page-1"}
    site.call("POST", "/v1/retention/holds", json.dumps(hold).encode())
    site.call("POST", "/v1/decisions/page-2/notices", b"{}")
    approved(site, "page-letter")
    polled(site)
    return site.member("owner@pages.example", "owner")


def polled(site) -> None:
    """Create a connector that reads a file with a bad line, and wait for its poll."""
    folder = Path(site.live.environment["CONNECTOR_DIRECTORIES"])
    (folder / "loans.ndjson").write_text('{"decision_id": "polled-1"}\nno record\n')
    body = {"kind": "directory", "name": "Nightly loans", "config": {"path": str(folder)}}
    connector = site.call("POST", "/v1/connectors", json.dumps(body).encode())
    path = f"/v1/connectors/{connector['source_id']}"
    wait_until(lambda: site.call("GET", path)["in_quarantine"], "the connector is polled")


@pytest.fixture
def signed_in(site, open_page, owner, signed_in_state) -> Callable[..., Page]:
    def make(path: str = "", **options) -> Page:
        return open_page(site, f"/admin/{path}", storage_state=signed_in_state(owner), **options)

    return make


def hidden_columns(page: Page) -> list[str]:
    """Return the desktop screens on which a list hides columns."""
    hidden = []
    for width in (1280, 1500, 1501, 1920):
        page.set_viewport_size({"width": width, "height": 800})
        if page.locator(".results").evaluate_all("lists => lists.some(list => list.scrollWidth > list.clientWidth)"):
            hidden.append(f"columns hidden on {width}")
    return hidden


def faults(page: Page) -> list[str]:
    """Return what is wrong with a page in any look. Rules that no look changes are checked in the first."""
    problems = []
    for name, rules in {"light": (), **LOOKS_RULES}.items():
        look(page, name)
        problems += [f"{name}: {fault}" for fault in too_wide(page) + violations(page, rules=rules)]
    return problems


def test_every_page_is_accessible_fits_every_screen_and_has_links_that_answer(signed_in):
    page, problems = signed_in(), {}
    walk = Walk(page)
    for path in walk.pages("/admin/", "/admin/decisions/decision/?q=nothing"):
        problems[path] = broken_rules(page) + faults(page)
        if path.removeprefix("/admin/").rstrip("/") in LISTS:
            look(page, "light")
            problems[path] += hidden_columns(page)
        headings = page.locator("h1, h2, .breadcrumbs, .message, .pagination, .empty").all_inner_texts()
        problems[path] += [text for text in [page.title(), *headings] if re.search(CODES, text, re.IGNORECASE)]
    assert {where: faulty for where, faulty in problems.items() if faulty} == {}
    assert {shape(path) for path in problems} >= SOME_PAGES
    assert walk.broken_links() == []


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_the_menu_opens_and_closes_by_keyboard_on_a_narrow_screen(signed_in, scripts):
    page = signed_in(viewport={"width": 1023, "height": 700}, java_script_enabled=scripts)
    menu, button = page.get_by_role("navigation", name="Main"), page.get_by_role("button", name="Menu")
    expect(menu).to_be_hidden()
    button.focus()
    page.keyboard.press("Enter")
    expect(menu).to_be_visible()
    page.keyboard.press("Tab")
    expect(menu.get_by_role("link").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(button).to_be_focused()
    page.set_viewport_size({"width": 1024, "height": 700})
    expect(menu).to_be_visible()
    expect(button).to_be_hidden()


def test_no_word_of_a_table_is_broken_on_a_phone(signed_in):
    page = signed_in("decisions/decision/reports/", viewport={"width": 360, "height": 740})
    broken = page.locator(".record-page").evaluate("""page => {
        const broken = [];
        for (const cell of page.querySelectorAll("td, th")) {
            const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
            for (let text; (text = texts.nextNode()); ) {
                for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
                    const range = document.createRange();
                    range.setStart(text, index);
                    range.setEnd(text, index + word.length);
                    if (range.getClientRects().length > 1) broken.push(word);
                }
            }
        }
        return broken;
    }""")
    assert broken == []
    assert page.locator(".record-page td").count() > 3


def test_there_is_space_between_a_label_and_its_field(signed_in):
    page = signed_in("accounts/apikey/create/")
    label, field = page.locator("label[for=id_name]").bounding_box(), page.get_by_label("Name").bounding_box()
    assert field["y"] - (label["y"] + label["height"]) >= 4


def test_disabled_elements_look_disabled_but_are_readable(signed_in):
    page = signed_in("accounts/apikey/create/")
    field, button = page.get_by_label("Name"), page.get_by_role("button", name="Create the key")
    parts = "document.querySelectorAll('.record-page :is(input, button)')"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        looks = []
        for disabled in ("false", "true"):
            page.evaluate(f"{parts}.forEach(part => part.disabled = {disabled})")
            page.evaluate("document.getAnimations().forEach(animation => animation.finish())")
            looks.append([part.evaluate("e => getComputedStyle(e).backgroundColor") for part in (field, button)])
        assert button.evaluate("e => getComputedStyle(e).opacity") == "1", scheme
        assert all(old != new for old, new in zip(*looks, strict=True)), scheme


def test_the_users_links_are_at_the_right_edge_of_the_header(signed_in):
    page = signed_in(viewport={"width": 1280, "height": 800})
    links = page.locator(".account").bounding_box()
    organization = page.locator("#header .organization").bounding_box()
    assert 1280 - (links["x"] + links["width"]) <= 40
    assert organization["x"] + organization["width"] < links["x"]


def test_every_page_works_without_scripts(signed_in):
    page = signed_in("decisions/decision/", java_script_enabled=False)
    page.get_by_label("Search").fill("page-1")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="page-1").click()
    path = page.get_by_text("outcome.reasons.0").locator("..")
    expect(path).to_have_css("opacity", "0")
    page.get_by_label("Show paths").check()
    expect(path).to_have_css("opacity", "1")
    expect(page.get_by_role("button", name="Copy")).to_have_count(0)
    expect(page.get_by_role("button", name="Keyboard")).to_have_count(0)
    page.goto("/admin/accounts/auditevent/")
    page.get_by_text("Filters").click()
    events = page.locator("details[data-filter-title=event]")
    events.get_by_label("Is", exact=True).select_option("invite.created")
    events.get_by_role("button", name="Show").click()
    page.wait_for_load_state()
    assert set(page.locator("#result_list .field-event").all_inner_texts()) == {"Invite created"}


def test_a_forbidden_button_is_disabled_with_a_reason(signed_in):
    page = signed_in("accounts/invite/")
    page.get_by_role("link", name="invited@pages.example").click()
    page.get_by_label("I am sure").check()
    page.get_by_role("button", name="Withdraw the invitation").click()
    button = page.get_by_role("button", name="Withdraw the invitation")
    expect(button).to_be_disabled()
    expect(button).to_have_accessible_description("This invitation is revoked.")


def test_an_irreversible_action_requires_confirmation(signed_in):
    page = signed_in("accounts/apikey/create/")
    page.get_by_label("Name").fill("not to be revoked")
    page.get_by_role("button", name="Create the key").click()
    page.get_by_role("link", name="Back to the list of keys").click()
    page.get_by_role("link", name="not to be revoked").click()
    page.get_by_role("button", name="Revoke the key").click()
    page.reload()
    expect(page.get_by_role("definition").filter(has_text="active")).to_be_visible()


# ── the keyboard ──


def test_the_question_mark_opens_the_list_of_keys_and_escape_closes_it(signed_in):
    page = signed_in("decisions/decision/")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard")
    expect(dialog.get_by_role("row").filter(has_text="Start page")).to_contain_text("h")
    expect(dialog.get_by_role("row").filter(has_text="Search")).to_contain_text("/")
    expect(dialog.get_by_role("button", name="Close")).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Keyboard").click()
    expect(dialog).to_be_visible()


def test_keys_move_through_a_list_open_a_row_and_go_home(signed_in):
    page = signed_in("decisions/decision/")
    rows = page.locator("#result_list tbody th a")
    page.keyboard.press("j")
    expect(rows.nth(0)).to_be_focused()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="The record")).to_be_visible()
    with page.expect_download() as download:
        page.keyboard.press("d")
    assert download.value.suggested_filename.startswith("record-")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="Your work")).to_be_visible()


def test_keys_type_letters_in_a_text_field(signed_in):
    page = signed_in("decisions/decision/")
    page.keyboard.press("/")
    expect(page.get_by_label("Search")).to_be_focused()
    page.keyboard.type("h?/j")
    expect(page.get_by_label("Search")).to_have_value("h?/j")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_single_keys_can_be_turned_off_and_on_again(signed_in):
    """Speech input must not press keys by accident (WCAG 2.1.4)."""
    page = signed_in("decisions/decision/")
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn single keys off").click()
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("#result_list tbody th a:focus")).to_have_count(0)
    page.get_by_role("button", name="Keyboard").click()
    page.get_by_role("button", name="Turn single keys on").click()
    page.keyboard.press("j")
    expect(page.locator("#result_list tbody th a:focus")).to_have_count(1)


def test_why_a_decision_was_made_is_two_clicks_from_the_start_on_the_first_screen(signed_in):
    page = signed_in(viewport={"width": 1280, "height": 800})
    loads = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    page.get_by_role("navigation").get_by_role("link", name="Decisions", exact=True).click()
    page.get_by_role("link", name="page-2", exact=True).click()
    expect(page.get_by_role("heading", name="Denied")).to_be_in_viewport(ratio=1)
    expect(page.locator(".why-list")).to_contain_text("Payments are 46 % of income.")
    for part in (page.locator(".why-list"), page.get_by_text("Kept until")):
        expect(part).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    assert len(loads) == 2


def test_a_copied_path_is_announced_to_screen_readers(signed_in):
    page = signed_in("decisions/decision/?q=page-1", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="page-1").click()
    button = page.get_by_role("button", name="Copy outcome.reasons.0")
    button.focus()
    expect(button.locator("..")).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.locator("[aria-live=polite]")).to_have_text("Copied outcome.reasons.0")
    assert page.evaluate("navigator.clipboard.readText()") == "outcome.reasons.0"


def test_a_printed_page_has_the_whole_record_and_no_buttons(signed_in):
    page = signed_in("decisions/decision/?q=page-2")
    page.get_by_role("link", name="page-2").click()
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = false)")
    page.emulate_media(media="print")
    expect(page.locator("#record").get_by_text("Payments are 46 % of income.")).to_be_visible()
    for hidden in ("#header", ".breadcrumbs", "#menu", ".foot"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.get_by_role("button")).to_have_count(0)
