"""Times in a browser: in the reader's zone, with UTC on focus and hover. Without scripts they stay in UTC."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

OWNER = "times@pages.example"


@pytest.fixture(scope="module")
def key_list(site) -> str:
    """Return the path of the list of keys. It has a key that was created on 5 September at 22:30 UTC."""
    site.call("POST", "/v1/auth/api-keys", b'{"name": "key with a time"}')
    site.live.sql("UPDATE accounts_apikey SET created_at = '2026-09-05 22:30:15+00:00' WHERE name = 'key with a time'")
    site.member(OWNER, "owner")
    return "/admin/accounts/apikey/"


@pytest.fixture
def open_list(site, key_list, open_page) -> Callable[..., Page]:
    return lambda **options: open_page(site, key_list, storage_state=site.signed_in(OWNER), **options)


def test_times_are_in_the_zone_of_the_reader_and_in_utc_on_focus_and_hover(open_list):
    page = open_list(timezone_id="Europe/Berlin")
    row = page.get_by_role("row", name="key with a time")
    time = row.locator("time").first
    expect(time).to_have_text("6 Sep 2026, 00:30 GMT+2")
    expect(time).to_have_attribute("title", "5 Sep 2026, 22:30:15 UTC")
    row.get_by_role("link").first.focus()
    expect(time).to_have_text("5 Sep 2026, 22:30 UTC")
    page.locator("h1").hover()
    page.evaluate("document.activeElement.blur()")
    expect(time).to_have_text("6 Sep 2026, 00:30 GMT+2")
    row.get_by_role("link").first.click()
    time = page.locator("main time").first
    expect(time).to_have_text("6 Sep 2026, 00:30 GMT+2")
    time.focus()
    expect(time).to_have_text("5 Sep 2026, 22:30 UTC")
    page.evaluate("document.activeElement.blur()")
    time.hover()
    expect(time).to_have_text("5 Sep 2026, 22:30 UTC")


def test_times_stay_in_utc_without_scripts(open_list):
    page = open_list(java_script_enabled=False, timezone_id="Europe/Berlin")
    row = page.get_by_role("row", name="key with a time")
    expect(row.locator("time").first).to_have_text("5 Sep 2026, 22:30 UTC")
