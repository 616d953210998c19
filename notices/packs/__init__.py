"""Notice packs: a directory for each law, with its elements, clocks and texts as data. See docs/adding-a-pack.md.

This package knows no Django and no records: it reads packs, checks them and answers questions about them.
"""

from notices.packs.clocks import Clock
from notices.packs.conditions import Applicability, Condition
from notices.packs.loading import BrokenPack, directories, load, load_all, packs
from notices.packs.models import (
    PLACEHOLDER,
    STATEMENT_FIELDS,
    Element,
    Locked,
    Pack,
    Source,
    Text,
    base_language,
    fill,
    is_text,
    placeholders,
)

__all__ = [
    "PLACEHOLDER",
    "STATEMENT_FIELDS",
    "Applicability",
    "BrokenPack",
    "Clock",
    "Condition",
    "Element",
    "Locked",
    "Pack",
    "Source",
    "Text",
    "base_language",
    "directories",
    "fill",
    "is_text",
    "load",
    "load_all",
    "packs",
    "placeholders",
]
