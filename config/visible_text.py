"""Whether a text says anything to those who read it: to a program an invisible character or a dash is not blank."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field

_SEEN = r"[^\W_\u115F\u1160\u3164\uFFA0]"
"""A letter or a digit. The four are letters to Unicode, and fillers that print as nothing."""
_FIRST = re.compile(_SEEN)


def is_visible(text: str) -> bool:
    """Whether a text has at least one letter or digit that can be seen."""
    return _FIRST.search(text) is not None


def _visible(text: str) -> str:
    if not is_visible(text):
        raise ValueError("Write it in words: there is no letter and no digit in it.")
    return text


Visible = Annotated[str, AfterValidator(_visible), Field(json_schema_extra={"pattern": _SEEN})]
"""A text of a request that people read, and that may not be empty."""
