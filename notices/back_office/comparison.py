"""Two revisions of a notice side by side, word by word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from notices.back_office.differences import differences
from notices.back_office.review_page import SECTIONS, TEXTS
from notices.models import Notice, NoticeRevision

_WORDS = re.compile(r"\s+|\S+")
_AROUND = 2  # lines
_MAX_OFFERED = 100  # revisions to choose from; the history links to the others
_FIELDS = {"title": _("Title"), **SECTIONS, **TEXTS, "human_review_available": _("Review by a human")}


class Piece(NamedTuple):
    """A run of words; `kind` is same, removed, added, or left_out for a note that replaces unchanged lines."""

    kind: str
    text: str


class Difference(NamedTuple):
    """A content field that differs."""

    label: str
    pieces: list[Piece]


def chosen(notice: Notice, a: str, b: str) -> tuple[NoticeRevision, NoticeRevision]:
    """Return the two revisions of these numbers. Defaults are the last one for `b`, and the one before `b` for `a`."""
    after = _revision(notice, b) or notice.revisions.order_by("-number")[0]
    before = _revision(notice, a) or _revision(notice, str(after.number - 1)) or after
    return before, after


def offered(notice: Notice, *shown: NoticeRevision) -> list[NoticeRevision]:
    """Return the revisions to choose from, without their words: the newest, and the shown ones."""
    newest = notice.revisions.defer("content", "cited").order_by("-number")[:_MAX_OFFERED]
    revisions = {row.number: row for row in (*shown, *newest)}
    return [revisions[number] for number in sorted(revisions)]


def _revision(notice: Notice, number: str) -> NoticeRevision | None:
    return notice.revisions.filter(number=int(number)).first() if re.fullmatch("[0-9]{1,9}", number) else None


def compare(before: NoticeRevision, after: NoticeRevision) -> list[Difference]:
    """Return the fields that differ between two revisions, in the order of the letter."""
    fields = []
    for name, label in _FIELDS.items():
        old, new = _text(before.content.get(name)), _text(after.content.get(name))
        if old != new:
            fields.append(Difference(str(label), list(_pieces(old, new))))
    if before.not_applicable != after.not_applicable:
        old, new = _reasons(before.not_applicable), _reasons(after.not_applicable)
        fields.append(Difference(gettext("Does not apply"), list(_pieces(old, new))))
    return fields


def _pieces(old: str, new: str) -> Iterator[Piece]:
    """Yield the pieces of two texts, compared by lines and then by the words of changed lines."""
    for lines in differences(old.splitlines(keepends=True), new.splitlines(keepends=True)):
        if lines.is_same:
            yield from _same(lines.before)
            continue
        words = (_WORDS.findall("".join(side)) for side in (lines.before, lines.after))
        for block in differences(*words):
            if block.is_same:
                yield Piece("same", "".join(block.before))
            else:
                yield from _both("".join(block.before), "".join(block.after))


def _same(lines: Sequence[str]) -> Iterator[Piece]:
    """Yield unchanged lines, or only those next to changes if there are many."""
    skipped = len(lines) - 2 * _AROUND
    if skipped <= 1:
        yield Piece("same", "".join(lines))
        return
    yield Piece("same", "".join(lines[:_AROUND]))
    yield Piece("left_out", gettext("%(count)s lines are the same.") % {"count": skipped})
    yield Piece("same", "".join(lines[-_AROUND:]))


def _both(removed: str, added: str) -> Iterator[Piece]:
    if removed:
        yield Piece("removed", removed)
    if added:
        yield Piece("added", added)


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(_text(item) for item in value)
    if isinstance(value, Mapping):
        return f"{value['statement']} [{value['source']}]"
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    return str(value or "")


def _reasons(not_applicable: Mapping[str, str]) -> str:
    return "\n".join(f"{element}: {reason}" for element, reason in not_applicable.items())
