"""The letter of a notice: one page of HTML, the same on paper as PDF, and the same as plain text.

This package knows no models. Give it a `Letter`; what it says is in its content, and how it says the rest in *.toml.
"""

from notices.letters.letter import Letter, Mark
from notices.letters.page import html, style_hash
from notices.letters.paper import NoPdfHere, Paper, TooLongForPaper, pdf, require_fits
from notices.letters.plain import text

__all__ = [
    "Letter",
    "Mark",
    "NoPdfHere",
    "Paper",
    "TooLongForPaper",
    "html",
    "pdf",
    "require_fits",
    "style_hash",
    "text",
]
