"""Every page of sign-in fits a small phone, is readable in the light and in the dark, and hinders nobody."""

from playwright.sync_api import expect

from tests.browser.axe import violations, violations_in_light_and_dark
from tests.browser.tour import tour

PAGES = [
    "invitation", "invitation gone", "sign in", "sign in, refused", "code", "code, refused",
    "second factor, enrolling", "first steps", "sessions", "second factor",
]  # fmt: skip


def test_no_page_scrolls_sideways_on_a_phone_of_360_pixels_and_axe_finds_nothing_on_any(site, open_page):
    phone, desk = {"width": 360, "height": 640}, {"width": 1280, "height": 720}
    page = open_page(site, viewport=phone, has_touch=True, is_mobile=True)
    found = {}
    for name in tour(site, page, "looks@live.example"):
        width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(desk)
        # The rest of the front page is Django's own.
        faults = violations_in_light_and_dark(page, ".first-steps" if name == "first steps" else "html")
        found[name] = (width, faults)
        page.set_viewport_size(phone)
    assert found == dict.fromkeys(PAGES, (360, []))


def test_axe_finds_a_fault_where_there_is_one(page):
    page.evaluate("document.querySelector('label').remove()")
    assert [fault.partition(":")[0] for fault in violations(page)] == ["label"]


def test_pages_are_dark_where_the_person_wants_them_so(page):
    brightness = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    assert brightness["dark"] < 200 < 600 < brightness["light"]


def test_a_page_is_usable_with_letters_twice_as_large(site, open_page):
    page = open_page(site, viewport={"width": 640, "height": 480})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(page.get_by_role("button", name="Email me a code")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
