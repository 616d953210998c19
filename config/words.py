"""Words for people, from the codes and keys of records."""

import re

_CODE = re.compile(r"[a-z0-9]+(?:[_.-][a-z0-9]+)*")


def in_words(text: str) -> str:
    """Return a code or key in words: `not_denied` becomes "Not denied". Any other text stays as it is written."""
    return re.sub("[_.-]", " ", text).capitalize() if _CODE.fullmatch(text) else text
