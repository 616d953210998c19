"""The words of a letter in its language."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from notices.packs import base_language

_DIRECTORY = Path(__file__).parent
_FALLBACK = "en"
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

Words = Mapping[str, str]


@cache
def languages() -> Mapping[str, Words]:
    """The words of each language there are letters in, by its code without a region."""
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in _DIRECTORY.glob("*.toml")}


def language_of(asked: object) -> str:
    """The tag of the language a letter is printed in: the one asked for, or English if there are no words for it."""
    if isinstance(asked, str) and _TAG.fullmatch(asked) and base_language(asked) in languages():
        return asked
    return _FALLBACK
