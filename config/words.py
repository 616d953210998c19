"""Words for people, from the codes and keys of records."""

import re

from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

_CODE = re.compile(r"[a-z0-9]+(?:[_.-][a-z0-9]+)*")
_RUN = re.compile(r"[\w.*-]+")
_IN_CODE = re.compile(
    r"[^\W_]_[^\W_]"  # a code, such as not_denied
    r"|[0-9a-f]{8}-[0-9a-f]{4}-"  # a UUID
    r"|\A(?:approval|events|found|outcome|subject|system)\.\w"  # a path of a record
)


def in_words(text: str) -> str:
    """Return a code or key in words: `not_denied` becomes "Not denied". Any other text stays as it is written."""
    return re.sub("[_.-]", " ", text).capitalize() if _CODE.fullmatch(text) else text


def codes_marked(text: object) -> SafeString:
    """Return a text as HTML, with its codes, UUIDs and paths of records in `code`. Safe HTML stays as it is."""
    if isinstance(text, SafeString):
        return text
    parts, end, plain = [], 0, str(text)
    for run in _RUN.finditer(plain):
        code = run[0].rstrip(".-")
        if _IN_CODE.search(code):
            parts += [conditional_escape(plain[end : run.start()]), format_html("<code>{}</code>", code)]
            end = run.start() + len(code)
    return mark_safe("".join([*parts, conditional_escape(plain[end:])]))  # noqa: S308
