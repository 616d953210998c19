"""The letter of a notice: one page of HTML, the same on paper as PDF, and the same as plain text.

This package knows no models. A `Letter` holds the content, and *.toml the fixed words of each language.
"""

from notices.letters.html import render_html, style_hash
from notices.letters.letter import Letter, Mark
from notices.letters.pdf import NoPdfHere, Paper, TooLongForPaper, render_pdf, require_fits
from notices.letters.text import render_text

__all__ = [
    "Letter",
    "Mark",
    "NoPdfHere",
    "Paper",
    "TooLongForPaper",
    "render_html",
    "render_pdf",
    "render_text",
    "require_fits",
    "style_hash",
]
