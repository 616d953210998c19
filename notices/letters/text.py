"""A letter as plain text, for readers of mail and for people who print nothing."""

import textwrap
from collections.abc import Iterator

from notices.bidi import carried
from notices.letters.letter import Letter
from notices.letters.outline import Line, Outline, outline_of
from notices.localization.sentences import isolate

_WIDTH = 78


def render_text(letter: Letter) -> str:
    """Return the letter in lines of at most 78 columns, except longer words. Sources are numbers in brackets."""
    outline = outline_of(letter)
    closing = "\n".join(_wrapped(line.text) for line in outline.closing)
    parts = [*_head(letter, outline), *_body(outline), closing, *_sources(outline), *_check(letter, outline)]
    return "\n\n".join(parts) + "\n"


def _head(letter: Letter, outline: Outline) -> Iterator[str]:
    if letter.mark:
        yield _wrapped(f"{outline.labels[letter.mark].upper()}. {outline.labels[f'{letter.mark}_note']}")
    for block in ([outline.organization, *outline.sender], outline.recipient):
        if block:
            yield "\n".join(_wrapped(line.text) for line in block)
    yield "\n".join(
        _wrapped(outline.labels["fact"].format(label=label, value=isolate(value.text)))
        for _, label, value in outline.facts
    )
    yield _heading(outline.title.text, "=")
    yield _wrapped(_greeting(outline))


def _body(outline: Outline) -> Iterator[str]:
    for section in outline.sections:
        yield _heading(section.heading, "-")
        if section.is_running and section.items:
            yield _wrapped(" ".join(_cited(line, space="\N{NO-BREAK SPACE}") for line in section.items))
        elif section.items:
            yield "\n".join(_wrapped(_cited(line), "- ") for line in section.items)
        yield from (_wrapped(line.text) for line in section.paragraphs)


def _greeting(outline: Outline) -> str:
    if outline.greeted.text:
        return outline.labels["greeting"].format(name=isolate(outline.greeted.text))
    return outline.labels["greeting_nobody"]


def _sources(outline: Outline) -> Iterator[str]:
    if outline.sources:
        yield _heading(outline.labels["sources"], "-")
        yield _wrapped(outline.labels["sources_note"])
        yield "\n".join(f"[{number}] {path}" for number, path in enumerate(outline.sources, 1))


def _check(letter: Letter, outline: Outline) -> Iterator[str]:
    if letter.address:
        yield _heading(outline.labels["check"], "-")
        yield f"{outline.labels['check_at']}\n{letter.address}"
        yield _wrapped(outline.labels["check_what"])
        if letter.review_code:
            yield f"{_wrapped(outline.labels['code'])}\n{letter.review_code}"


def _heading(text: str, underline: str) -> str:
    wrapped = _wrapped(text)
    return f"{wrapped}\n{underline * max(map(len, wrapped.splitlines()))}"


def _cited(line: Line, space: str = " ") -> str:
    return f"{line.text}{space}[{line.source}]" if line.source else line.text


def _wrapped(text: str, bullet: str = "") -> str:
    """Return a text with wrapped lines. Paths and addresses stay whole, so that they can be copied."""
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
        for number, line in enumerate(text.split("\n"))
    ]
    return "\n".join(carried("\n".join(lines).split("\n")))
