"""Notice packs: a directory for each law, its elements, clocks and texts as data. How to: docs/adding-a-pack.md.

This package knows no Django and no records: it reads packs, checks them and answers what they say.
"""

from notices.packs.conditions import Applies, Condition
from notices.packs.loading import BrokenPack, directories, load, pack, packs, problems
from notices.packs.models import Clock, Element, Filled, Locked, Pack, Source, Text, fill, placeholders

__all__ = [
    "Applies",
    "BrokenPack",
    "Clock",
    "Condition",
    "Element",
    "Filled",
    "Locked",
    "Pack",
    "Source",
    "Text",
    "directories",
    "fill",
    "load",
    "pack",
    "packs",
    "placeholders",
    "problems",
]
