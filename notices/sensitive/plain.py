"""Texts as they look: without what nobody sees, and with Latin letters for those that only look like them."""

import unicodedata
from functools import lru_cache

from config.unicode_forms import normalize

_ALIKE = dict(
    zip(
        "аеорсухіјѕһԁԛԝӏАВЕЅІЈКМНОРСТУХαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧɑɡı",
        "aeopcyxijshdqwlABESIJKMHOPCTYXaeikvoptuxABEZHIKMNOPTYXagi",
        strict=True,
    )
)
"""Small on purpose: those of Cyrillic, Greek and phonetic letters that stand for a Latin one in every font."""
_INSTEAD = {"Zs": " ", "Pd": "-", "Cf": "", "Mn": "", "Me": ""}
_FILLERS = "\u115f\u1160"


def plain(text: str) -> str:
    """A text to be searched: without invisible signs, and any space, dash, digit and look-alike as one of ours."""
    return text if text.isascii() else "".join(map(_sign, normalize("NFKC", text)))


@lru_cache(4096)
def _sign(sign: str) -> str:
    if sign.isdecimal():
        return str(unicodedata.decimal(sign))
    if sign in _FILLERS:
        return ""
    return _ALIKE.get(sign) or _INSTEAD.get(unicodedata.category(sign), sign)
