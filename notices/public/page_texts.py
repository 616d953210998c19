"""Words of the public page in each language of letters."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from notices.packs import base_language

_DIRECTORY = Path(__file__).parent

Words = Mapping[str, str]


@cache
def words(language: str) -> Words:
    """Return the page's words in a language of letters, with or without a region."""
    return tomllib.loads((_DIRECTORY / f"{base_language(language)}.toml").read_text("utf-8"))
