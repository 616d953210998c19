"""Sentences on one line: texts of a record made fit to stand in them, begun, ended and told apart."""

import re
import unicodedata

# The last ones are Chinese, Japanese, Arabic, Urdu and Hindi.
END_MARKS = (".", "!", "?", "…", "\u3002", "\uff01", "\uff1f", "\u061f", "\u06d4", "\u0964")
# No-break spaces stay: they hold numbers and French punctuation together.
_SPACES = re.compile(r"[^\S\u00a0\u202f]+|[\x00-\x1f\x7f-\x9f]+")
# PostgreSQL cannot hold NUL. Only the others can end an isolate; every other control that reorders text loses its
# effect where the isolate ends.
_LEFT_OUT = re.compile("[\x00\u2066-\u2069]")
_FIRST_STRONG_ISOLATE, _POP = "\u2068", "\u2069"
_REORDERING = {"R", "AL", "AN", "RLE", "LRE", "RLO", "LRO", "PDF"}
_MARKS = "\u200e\u200f\u061c"
_OPENING, _CLOSING = "\"'\u201c\u2018«„(", "\"'\u201d\u2019»)"
_BOUNDARY = re.compile(rf"(?<=[.!?…])[{_CLOSING}]*[ \u00a0\u202f]+(?=[{_OPENING}]*([^\W_]))")
_LONGEST_ABBREVIATION = 16
# A full stop after one of these ends no sentence: a single letter, a short word with a capital, an ordinal, and so on.
_ABBREVIATION = re.compile(
    r"(?:\b[^\W\d_]|\b[A-ZÄÖÜÉ][^\W\d_]{1,2}|\b\d{1,2}"
    r"|\b(?i:approx|art|bzw|ca|corp|etc|evtl|gem|ggf|inc|ltd|max|min|mrs|no|nr|prof|sec|vgl|zzgl))\.$"
)


def finish_sentence(text: str) -> str:
    """Begin with a capital and end as a sentence does."""
    text = text.rstrip(" ,;:")
    if not text:
        return text
    if text.endswith(_POP) and text[-2:-1] in END_MARKS:
        text = text[:-2] + _POP + text[-2]  # the end mark belongs to the sentence, not to the value inside it
    first = text[0].upper()
    return (first if len(first) == 1 else text[0]) + text[1:] + ("" if text.endswith(END_MARKS) else ".")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text. In doubt two stay together: abbreviations look much like ends."""
    sentences, start = [], 0
    for gap in _BOUNDARY.finditer(text):
        before = text[max(start, gap.start() - _LONGEST_ABBREVIATION) : gap.start()]
        if gap[1].islower() or _ABBREVIATION.search(before):
            continue
        sentences.append(text[start : gap.end()].rstrip())
        start = gap.end()
    return [*sentences, text[start:]]


def one_line(text: str) -> str:
    """A text without line breaks, control characters and space around it."""
    return _SPACES.sub(" ", _LEFT_OUT.sub("", text)).strip()


def isolate(line: str) -> str:
    """A line closed in itself where its characters could reorder what stands around it.

    Isolates as in Unicode Standard Annex #9, section 2.4: whatever direction the line has, the sentence keeps its own.
    """
    if line.isascii() or not any(map(_reorders, set(line))):
        return line
    return _FIRST_STRONG_ISOLATE + line + _POP


def clean(text: str) -> str:
    """A text of a record as it can stand in a sentence."""
    return isolate(one_line(text))


def _reorders(character: str) -> bool:
    return character in _MARKS or unicodedata.bidirectional(character) in _REORDERING
