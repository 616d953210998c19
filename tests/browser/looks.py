"""Looks in which every page must be accessible and fit: schemes, sizes and zoom."""

from playwright.sync_api import Page

_DESK, _PHONE, _ZOOMED = {"width": 1280, "height": 800}, {"width": 360, "height": 780}, {"width": 640, "height": 400}
LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "forced colours": {"forced_colors": "active"},
    "phone": {"viewport": _PHONE},
    "phone, dark": {"viewport": _PHONE, "color_scheme": "dark"},
    "200 % zoom": {"viewport": _ZOOMED, "font": "200%"},
    "large screen": {"viewport": {"width": 3840, "height": 2160}},
}
_COLOURS, _SIZES = ["color-contrast"], ["target-size", "scrollable-region-focusable"]
# Rules that a look can break although the page passes all rules in the light one.
LOOKS_RULES = {
    "dark": _COLOURS, "forced colours": _COLOURS, "phone": _SIZES, "phone, dark": _COLOURS, "200 % zoom": _SIZES,
    "large screen": _SIZES,
}  # fmt: skip


def look(page: Page, name: str) -> None:
    """Show a page in one of LOOKS."""
    wanted = LOOKS[name]
    page.set_viewport_size(wanted.get("viewport", _DESK))
    page.emulate_media(
        color_scheme=wanted.get("color_scheme", "light"), forced_colors=wanted.get("forced_colors", "none")
    )
    page.evaluate("size => { document.documentElement.style.fontSize = size }", wanted.get("font", ""))
    page.evaluate("document.getAnimations().forEach(animation => animation.finish())")


def too_wide(page: Page) -> list[str]:
    """Return whether the page scrolls sideways, with the elements that reach beyond its right edge."""
    return page.evaluate("""() => {
        const root = document.documentElement, width = root.clientWidth;
        if (root.scrollWidth <= width) return [];
        const parts = [...document.querySelectorAll("main *")];
        const beyond = parts.filter(part => part.getBoundingClientRect().right > width).slice(0, 3);
        return [`${root.scrollWidth} px wide: ${beyond.map(part => part.outerHTML.slice(0, 80))}`];
    }""")
