"""A text as it is read aloud: without what nobody sees, and with the digits of every script as 0 to 9."""

import re
import unicodedata
from functools import lru_cache

from config.unicode_forms import normalize

_UNUSUAL = re.compile("[^\x20-\x7e\u00c0-\u024f\u0370-\u052f\u4e00-\u9fff]")
"""What may have to be read in another way: not the letters of most texts."""
_SMALL = re.compile(r"(?<=[^\W_])[\u00b2\u00b3\u00b9\u2070-\u209f]+")
"""Small figures after a letter are a part of its name: m², CO₂."""
_ON_DIGITS = re.compile(r"(?<=\d)[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]+")
"""Marks and frames around a digit."""
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
"""Characters that print nothing and are no format characters."""
_SAME = {"\u2010": "-", "\u2011": "-", "\u2212": "-", "\ufe63": "-", "\uff0d": "-", "\u066a": "%", "\ufe6a": "%"}
_SAME |= {"\u066b": ".", "\u066c": ","}
_FULL_WIDTH = (range(0xFF01, 0xFF5F), range(0xFFE0, 0xFFE7))


def plain(text: str) -> str:
    return _ON_DIGITS.sub("", _UNUSUAL.sub(lambda found: _read(found[0]), _SMALL.sub("", text)))


@lru_cache(maxsize=4096)
def _read(one: str) -> str:
    category = unicodedata.category(one)
    if (category in ("Cf", "Cc") and not one.isspace()) or one in _UNSEEN:
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(one))
    if category in ("No", "Nl"):
        number = unicodedata.numeric(one)
        return f"{number:.0f}" if number == int(number) else f" {number:.3g}"
    if any(ord(one) in each for each in _FULL_WIDTH):
        return normalize("NFKC", one)
    return _SAME.get(one, one)
