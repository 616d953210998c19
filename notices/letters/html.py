"""A letter as one HTML document that loads nothing from elsewhere and runs no script."""

import base64
import hashlib
import json
from functools import cache, lru_cache
from pathlib import Path

import segno
from django.template.loader import render_to_string

from notices.letters.letter import Letter
from notices.letters.outline import outline_of

_STYLE = Path(__file__).parent / "letter.css"
_VARIABLES = Path(__file__).parents[2] / "config/static/drs/variables.css"


def render_html(letter: Letter) -> str:
    """Return the letter as a page to read, print and keep.

    The element `proof` holds the proof file: a JSON string of its bytes as Base64.
    """
    return document(letter, style())


def style_hash() -> str:
    """Return the hash source of the page's style, for `style-src` of a content security policy (CSP Level 3, 2.3.1)."""
    digest = hashlib.sha256(style().encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def style() -> str:
    """Return the style of a letter, which begins with the variables of all pages."""
    return _VARIABLES.read_text("utf-8") + _STYLE.read_text("utf-8")


def document(letter: Letter, css: str) -> str:
    """Return the letter under another style."""
    outline = outline_of(letter)
    context = {
        "letter": letter,
        "outline": outline,
        "labels": outline.labels,
        "greeting": outline.labels["greeting"].split("{name}"),
        "mark": letter.mark and (outline.labels[letter.mark], outline.labels[f"{letter.mark}_note"]),
        "qr": _qr(letter.address, outline.labels["qr"]) if letter.address else "",
        "proof": json.dumps(base64.b64encode(letter.proof).decode()) if letter.proof else "",
        "style": css,
    }
    return render_to_string("letters/letter.html", context)


@lru_cache(maxsize=64)
def _qr(address: str, title: str) -> str:
    """Return an SVG element, whose title screen readers read aloud.

    It is cached because a letter is often requested in several forms, and its page needs the digest of its HTML.
    """
    code = segno.make(address, error="m", micro=False)
    return str(code.svg_inline(title=title.format(address=address), border=4, omitsize=True, svgclass="qr"))
