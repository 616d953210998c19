"""Looks of the sign-in pages: they fit a small phone, are readable in light and dark, and are accessible."""

from playwright.sync_api import expect

from tests.browser.axe import violations, violations_in_light_and_dark
from tests.browser.tour import tour

PAGES = [
    "invitation", "invitation gone", "sign in", "sign in, refused", "code", "code, refused",
    "second factor, enrolling", "first steps", "sessions", "second factor",
]  # fmt: skip


def test_every_page_is_accessible_and_fits_a_phone_of_360_pixels(site, open_page):
    phone, desk = {"width": 360, "height": 640}, {"width": 1280, "height": 720}
    page = open_page(site, viewport=phone, has_touch=True, is_mobile=True)
    results = {}
    for name in tour(site, page, "looks@live.example"):
        width = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size(desk)
        # Everything else on the front page is Django's.
        faults = violations_in_light_and_dark(page, ".first-steps" if name == "first steps" else "html")
        results[name] = (width, faults)
        page.set_viewport_size(phone)
    assert results == dict.fromkeys(PAGES, (360, []))


def test_axe_finds_a_fault(page):
    page.evaluate("document.querySelector('label').remove()")
    assert [fault.partition(":")[0] for fault in violations(page)] == ["label"]


def test_pages_follow_the_preferred_colour_scheme(page):
    brightness = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.reload()
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))
    assert brightness["dark"] < 200 < 600 < brightness["light"]


def test_a_page_is_usable_with_text_twice_as_large(site, open_page):
    page = open_page(site, viewport={"width": 640, "height": 480})
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    expect(page.get_by_role("button", name="Email me a code")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 640
