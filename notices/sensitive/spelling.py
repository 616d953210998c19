"""The lists of `fields.toml`, and the words around names."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from notices.sensitive.names import words_of


@cache
def tables() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "fields.toml").read_text("utf-8"))


@cache
def spelling(table: str) -> frozenset[str]:
    """The words of one of the tables of spelling."""
    return frozenset(word for name in tables()["spelling"][table] for word in words_of(name))
