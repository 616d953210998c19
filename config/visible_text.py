"""Validation that a text has visible content: an invisible character or a dash is not blank to a program."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_VISIBLE_CHARACTER = r"[^\W_\u115F\u1160\u3164\uFFA0]"
"""A letter or a digit. The four excluded characters are letters in Unicode, but invisible fillers."""
_visible_character = re.compile(_VISIBLE_CHARACTER)


def is_visible(text: str) -> bool:
    """Whether a text has a visible letter or digit."""
    return _visible_character.search(text) is not None


def _visible(text: str) -> str:
    if not is_visible(text):
        raise ValueError("Write it in words: there is no letter and no digit in it.")
    return text


Visible = Annotated[str, AfterValidator(_visible), Field(json_schema_extra={"pattern": _VISIBLE_CHARACTER})]
"""A text of a request for people to read, which must not be empty."""
