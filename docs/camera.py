"""Pictures of pages: cropped to what matters, and small."""

import io
import math
from pathlib import Path

from PIL import Image
from playwright.sync_api import FloatRect, Locator, Page

PICTURES = Path(__file__).parent / "pictures"
_COLOURS = 128  # enough for text and flat colours
_HIGH = 4000  # pixels of window, so that nothing has to be scrolled or sticks to the edge
_MARGIN = 8  # pixels around what is shown


def shoot(page: Page, name: str, *parts: Locator) -> None:
    """Write `pictures/<name>.png`: the smallest rectangle that holds all parts, or the window if there are none."""
    window = page.viewport_size
    if parts:
        page.set_viewport_size({**window, "height": _HIGH})
    screenshot = page.screenshot(animations="disabled", caret="hide", clip=_around(parts) if parts else None)
    page.set_viewport_size(window)
    with Image.open(io.BytesIO(screenshot)) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(PICTURES / f"{name}.png", optimize=True)


def fit(page: Page) -> None:
    """Make the window as high as the page's main part, and no higher."""
    bottom = page.evaluate("document.querySelector('main').getBoundingClientRect().bottom + scrollY")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": math.ceil(bottom) + 4 * _MARGIN})
    page.evaluate("scrollTo(0, 0)")


def _around(parts: tuple[Locator, ...]) -> FloatRect:
    boxes = [part.bounding_box() for part in parts]
    left, top = (max(min(box[side] for box in boxes) - _MARGIN, 0) for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + _MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + _MARGIN
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
