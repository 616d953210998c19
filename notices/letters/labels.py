"""Headings and labels of a letter in its language."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from notices.packs import base_language

_DIRECTORY = Path(__file__).parent
_FALLBACK = "en"
_TAG = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")

Labels = Mapping[str, str]


@cache
def languages() -> Mapping[str, Labels]:
    """Return the labels of each language of letters, by its code without a region."""
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in _DIRECTORY.glob("*.toml")}


def language_of(wish: object) -> str:
    """Return the language tag to print a letter in: the wish, or English if it has no labels."""
    if isinstance(wish, str) and _TAG.fullmatch(wish) and base_language(wish) in languages():
        return wish
    return _FALLBACK
