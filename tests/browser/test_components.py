"""The page of components: every component is accessible in each state, scheme and size, and shows its focus."""

import re

import pytest

from tests.browser.axe import violations
from tests.browser.looks import LOOKS, look, too_wide
from tests.databases import CHECKOUT

PATH = "/components/"
_RING = """() => {
    const element = document.activeElement, ring = getComputedStyle(element);
    const backgrounds = [];
    for (let place = element.parentElement; place; place = place.parentElement)
        backgrounds.push(getComputedStyle(place).backgroundColor);
    const behind = backgrounds.find(colour => !/, 0\\)$|transparent/.test(colour));
    return element === document.body ? null : [
        element.outerHTML.slice(0, 60), ring.outlineColor, behind, ring.outlineStyle, parseFloat(ring.outlineWidth)];
}"""


def luminance(colour):
    """Return the relative luminance of an `rgb()` colour, by WCAG."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", LOOKS)
def test_every_component_is_accessible_and_fits(site, open_page, name):
    page = open_page(site, PATH)
    look(page, name)
    assert violations(page) + too_wide(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_focus_ring_has_a_contrast_of_three_to_one(site, open_page, scheme):
    page = open_page(site, PATH)
    page.emulate_media(color_scheme=scheme)
    rings = []
    page.keyboard.press("Tab")
    while ring := page.evaluate(_RING):
        rings.append(ring)
        page.keyboard.press("Tab")
    assert len(rings) > 40
    weak = [ring for ring in rings if contrast(ring[1], ring[2]) < 3 or ring[3] != "solid" or ring[4] < 2]
    assert weak == []


def test_the_page_shows_every_class_of_the_stylesheet(site, open_page):
    sheet = (CHECKOUT / "config/static/drs/components.css").read_text()
    rules = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", sheet, flags=re.DOTALL)
    page = open_page(site, PATH)
    shown = page.evaluate("[...document.querySelectorAll('[class]')].flatMap(part => [...part.classList])")
    assert set(re.findall(r"\.([a-z][\w-]*)", rules)) - set(shown) == set()


def test_the_contrast_of_black_on_white_is_twenty_one():
    assert round(contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)"), 1) == 21
