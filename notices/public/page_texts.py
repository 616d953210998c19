"""What the public page says, in the language of the letter."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from notices.packs import base_language

_DIRECTORY = Path(__file__).parent

Words = Mapping[str, str]


@cache
def words(language: str) -> Words:
    """The page's words in a language of letters, whatever its region."""
    return tomllib.loads((_DIRECTORY / f"{base_language(language)}.toml").read_text("utf-8"))
