"""A letter as plain text, for readers of mail and for people who print nothing."""

import textwrap
from collections.abc import Iterator

from notices.letters.letter import Letter
from notices.letters.outline import Line, Outline, outline

_WIDTH = 78


def render_text(letter: Letter) -> str:
    """The letter as lines of at most 78 columns, but for words that are longer; sources are numbers in brackets."""
    read = outline(letter)
    return "\n\n".join([*_head(letter, read), *_body(read), *_sources(read), *_check(letter, read)]) + "\n"


def _head(letter: Letter, read: Outline) -> Iterator[str]:
    if letter.mark:
        yield _wrapped(f"{read.words[letter.mark].upper()}. {read.words[f'{letter.mark}_note']}")
    for block in ([read.organization, *read.sender], read.recipient):
        if block:
            yield "\n".join(_wrapped(line.text) for line in block)
    yield "\n".join(
        _wrapped(read.words["fact"].format(label=label, value=value.text)) for _, label, value in read.facts
    )
    yield _heading(read.title.text, "=")


def _body(read: Outline) -> Iterator[str]:
    for section in read.sections:
        yield _heading(section.heading, "-")
        if section.items:
            yield "\n".join(_wrapped(_cited(line), "- ") for line in section.items)
        yield from (_wrapped(line.text) for line in section.paragraphs)


def _sources(read: Outline) -> Iterator[str]:
    if read.sources:
        yield _heading(read.words["sources"], "-")
        yield _wrapped(read.words["sources_note"])
        yield "\n".join(f"[{number}] {path}" for number, path in enumerate(read.sources, 1))


def _check(letter: Letter, read: Outline) -> Iterator[str]:
    if letter.address:
        yield _heading(read.words["check"], "-")
        yield f"{read.words['check_at']}\n{letter.address}"
        yield _wrapped(read.words["check_what"])
        if letter.review_code:
            yield f"{_wrapped(read.words['code'])}\n{letter.review_code}"


def _heading(told: str, line: str) -> str:
    wrapped = _wrapped(told)
    return f"{wrapped}\n{line * max(map(len, wrapped.splitlines()))}"


def _cited(line: Line) -> str:
    return f"{line.text} [{line.source}]" if line.source else line.text


def _wrapped(told: str, bullet: str = "") -> str:
    """Lines of a text, each wrapped; paths and addresses stay whole, so that they can be copied."""
    indent = " " * len(bullet)
    lines = [
        textwrap.fill(
            line,
            _WIDTH,
            initial_indent=indent if number else bullet,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for number, line in enumerate(told.split("\n"))
    ]
    return "\n".join(lines)
