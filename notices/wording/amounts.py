"""Numbers in a text: in figures or in words, with what they count."""

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal, InvalidOperation
from functools import cache
from typing import NamedTuple

from babel import Locale

from notices.wording import Vocabulary, vocabulary

_GROUPING = ".,'\u2019\u00a0\u202f "
_FIGURES = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)*(?:[eE][-+]?\d+)?")
_FIGURES_WITH_SPACES = re.compile(r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|" + _FIGURES.pattern)
_WORD = re.compile(r"[^\W\d_]+")
_AFTER = re.compile(r"(?:[ \u00a0\u202f]{0,2}|-)([%€£$]|[^\W\d_]+)")
_BEFORE = re.compile(r"([€£$]|(?<!\w)[A-Z]{3})[ \u00a0\u202f]{0,2}$")
_MINUS = ("-", "\u2212", "\u2013")
_MINUS_IN_WORDS = re.compile(r"(?i)(?<!\bau )(?<!\bdu )\b(?:minus|negative?|moins)[ \u00a0](?=[^\W_])")
_PER_CENT = re.compile(r"\b(?:per|pour)[ \u00a0]cent\b", re.IGNORECASE)
_READABLE = 40  # digits: beyond them no number is compared but by its spelling
_SIGNS = str.maketrans(
    {
        sign: f" {code} "
        for sign, code in zip(
            "¥₹₩₺₴₦₫₪₱₽", ("JPY", "INR", "KRW", "TRY", "UAH", "NGN", "VND", "ILS", "PHP", "RUB"), strict=True
        )
    }
)
_SHORT = 3
_SHARES_TO = 10  # a third is said of what is nearly one
_EXACT = Context(prec=4 * _READABLE)
# What may follow where numbers go by twenties: quatre-vingts, dix-sept, soixante-dix, quatre-vingt-dix.
_BY_TWENTIES: dict[int, Sequence[int]] = {4: (20,), 10: (7, 8, 9), 60: range(20), 80: range(20)}


class Amount(NamedTuple):
    number: Decimal
    place: Decimal
    """The value of the last place that is told: what was rounded to."""
    unit: str = ""


class AmountMention(NamedTuple):
    text: str
    amounts: tuple[Amount, ...]
    """What it may mean; nothing where it is a number in nobody's way of writing."""
    spelled: str
    """Its figures as they stand."""


class Code(NamedTuple):
    """Letters and figures in one, such as R07."""

    text: str


def find_amounts(
    text: str, words: Sequence[Vocabulary], decimals: str, *, spaces: bool = False
) -> Iterator[AmountMention | Code]:
    """The numbers and codes that a text names.

    Args:
        words: of the languages that it may be in.
        decimals: the decimal signs that it may have: `,` for German.
        spaces: whether a space may group figures.
    """
    text = _MINUS_IN_WORDS.sub("-", _PER_CENT.sub("%", text))
    rest, ended = [], 0
    for found, start, end in _in_figures(text, words, decimals, _FIGURES_WITH_SPACES if spaces else _FIGURES):
        yield found
        rest.append(text[ended:start])
        ended = end
    left = " . ".join([*rest, text[ended:]])
    small = left.lower()
    for each in words:
        any_share, any_number = _any_of(each.language)
        shares = list(_shares(left, each)) if any_share.search(small) else []
        yield from (found for found, _, _ in shares)
        if any_number.search(small):
            yield from _in_words(blank(left, [(start, end) for _, start, end in shares]), each)


def blank(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """A text with spaces in the place of some of its parts."""
    parts, ended = [], 0
    for start, end in sorted(spans):
        parts += [text[ended:start], " " * (end - start)]
        ended = end
    return "".join([*parts, text[ended:]])


def with_currency_codes(text: str) -> str:
    """A text with ISO 4217 codes for signs such as `CA$` and `£GB`. A bare $ may be any of several and stays."""
    pattern, codes = _currency_signs()
    return pattern.sub(lambda found: f" {codes[found[0]]} ", text).translate(_SIGNS)


@cache
def _currency_signs() -> tuple[re.Pattern[str], dict[str, str]]:
    """The signs of several characters that languages have for currencies, and what they stand for."""
    codes = {
        str(sign): str(code)
        for name in ("en", "en_GB", "de", "fr", "fr_CA")
        for code, sign in Locale.parse(name).currency_symbols.items()
        if len(sign) > 1 and not str(sign).isalpha()
    }
    signs = "|".join(sorted(map(re.escape, codes), key=len, reverse=True))
    return re.compile(rf"(?<!\w)(?:{signs})(?![^\W\d])"), codes


def place_of(number: Decimal) -> Decimal:
    """What the last place of a number is worth: 0.01 for 0.31, and 1000 for 182000."""
    exponent = int(number.as_tuple().exponent)
    digits = number.as_tuple().digits
    zeros = 0
    if exponent >= 0:
        zeros = next((count for count, digit in enumerate(reversed(digits)) if digit), 0)
    return Decimal(1).scaleb(exponent + zeros)


def is_readable(number: Decimal) -> bool:
    """Whether a number has so few places that it can be compared with others."""
    return len(number.as_tuple().digits) <= _READABLE and abs(number.adjusted()) < _READABLE


def _in_figures(
    text: str, words: Sequence[Vocabulary], decimals: str, pattern: re.Pattern[str]
) -> Iterator[tuple[AmountMention | Code, int, int]]:
    """What is written in figures, with where it begins and ends."""
    ended = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        if start < ended:
            continue
        before = _BEFORE.search(text, max(0, start - 6), start)
        is_money = before is not None and _unit(before[1], words)  # BHD5
        if start and (text[start - 1].isalnum() or text[start - 1] == "_") and not is_money:
            start, ended = _whole(text, start, end)
            yield Code(text[start:ended]), start, ended
            continue
        factor, unit, ended = Decimal(1), "", end
        if suffix := _WORD.match(text, end):
            meaning = _meaning(suffix[0], words)
            if meaning is None:
                start, ended = _whole(text, start, end)
                yield Code(text[start:ended]), start, ended
                continue
            factor, unit, ended = *meaning, suffix.end()
        while not unit and (after := _AFTER.match(text, ended)):
            meaning = _meaning(after[1], words)
            if meaning is None or (meaning[0] == 1 and not meaning[1]):
                break
            factor, unit, ended = factor * meaning[0], meaning[1], after.end()
            ended += not unit and text[ended : ended + 1] == "."  # 2 Mio. Euro
        if before:
            unit, start = _unit(before[1], words) or unit, before.start()
        # A text that is taken from the record may have figures in the way of another language.
        read = ({number for sign in signs for number in _numbers(found[0], sign)} for signs in (decimals, ".,"))
        numbers = next(filter(None, read), set())
        signed = -factor if _is_negative(text, start) else factor
        amounts = [Amount(_EXACT.multiply(each, signed), place_of(each) * factor, unit) for each in sorted(numbers)]
        yield AmountMention(text[start:ended].strip(), tuple(amounts), found[0]), start, ended


def _is_negative(text: str, start: int) -> bool:
    return text[max(0, start - 1) : start] in _MINUS and not text[max(0, start - 2) : start - 1].isalnum()


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """All of the letters and figures around a place."""
    while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
        start -= 1
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return start, end


def _meaning(word: str, words: Sequence[Vocabulary]) -> tuple[Decimal, str] | None:
    """What a word after figures multiplies them by, and the unit that it is; None if it is neither."""
    lower = word.lower()
    if unit := _unit(word, words):
        return Decimal(1), unit
    for each in words:
        if lower in each.powers:
            return Decimal(each.powers[lower]), ""
        if lower in each.after_digits:
            return Decimal(1), ""
    return None


def _unit(word: str, words: Sequence[Vocabulary]) -> str:
    known = next((each.units[word.lower()] for each in words if word.lower() in each.units), "")
    return known or (word if word in _currencies() else "")


@cache
def _currencies() -> frozenset[str]:
    return frozenset(Locale("en").currencies)


def _numbers(figures: str, sign: str) -> Iterator[Decimal]:
    """The number that figures are where this is the decimal sign, if they are any."""
    groups = "".join(each for each in _GROUPING if each != sign)
    grouped = rf"\d{{1,3}}(?:[{groups}]\d{{3}})+(?:{re.escape(sign)}\d+)?"
    if re.fullmatch(rf"(?:{grouped}|\d+(?:{re.escape(sign)}\d+)?)(?:[eE][-+]?\d+)?", figures):
        try:
            number = Decimal(re.sub(f"[{groups}]", "", figures).replace(sign, "."))
        except InvalidOperation:  # an exponent that no decimal has
            return
        if is_readable(number):
            yield number


@cache
def _any_of(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """One look at a text for any share and one for any number: most texts have none in words."""
    words = vocabulary(language)
    numbers = [*words.numbers, *(word for word in words.powers if len(word) > _SHORT)]
    shares, spelled = ("|".join(map(re.escape, each)) for each in ([*words.shares, *words.parts], numbers))
    # linear: alternatives without repeats
    return re.compile(shares), re.compile(spelled)


def _shares(text: str, vocabulary: Vocabulary) -> Iterator[tuple[AmountMention, int, int]]:
    """Shares and multiples in words, with where they begin and end: `double`, `two thirds`, `two and a half years`."""
    counting = vocabulary.counting
    for found in _share_pattern(vocabulary.language).finditer(text):
        part = {name: (word or "").lower() for name, word in found.groupdict().items()}
        share = Decimal(counting[part["count"]]) / vocabulary.parts[part["part"]] if part["part"] else None
        number = counting.get(part["whole"], 0) + (vocabulary.shares[part["share"]] if share is None else share)
        unit, end = _unit(part["unit"], [vocabulary]), found.start("after")
        end = found.end() if unit else end
        told = text[found.start() : end]
        yield AmountMention(told, (Amount(number, number / _SHARES_TO, unit),), told.lower()), found.start(), end


@cache
def _share_pattern(language: str) -> re.Pattern[str]:
    words = vocabulary(language)
    several = (words.counting, words.joining, words.ones, words.shares, words.parts)
    counting, joining, ones, shares, parts = ("|".join(sorted(each, key=len, reverse=True)) for each in several)
    space = "[ \u00a0]"
    return re.compile(
        rf"(?<!\w)(?:(?P<whole>{counting}){space}(?:{joining}){space}(?:(?:{ones}){space})?)?"
        rf"(?:(?P<share>{shares})|(?P<count>{counting})(?:{space}|-)(?P<part>{parts}))(?!\w)"
        rf"(?P<after>(?:(?:{space}|-)(?:(?:{ones}){space})?(?P<unit>[^\W\d_]+))?)",
        re.IGNORECASE,
    )


def _in_words(text: str, vocabulary: Vocabulary) -> Iterator[AmountMention]:
    run = _Run(vocabulary)
    for word in _WORD.finditer(text):
        yield from run.take(text, word)
    yield from run.end(text)


class _Run:
    """Words that make up one number while they follow one another."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._counting = vocabulary.counting
        self._clear()

    def _clear(self) -> None:
        self._start, self._end, self._reach, self._total, self._current = -1, -1, -1, 0, 0
        self._joined, self._counts = False, False

    def take(self, text: str, word: re.Match[str]) -> Iterator[AmountMention]:
        """The number that ended before this word, if one did."""
        parts = _parts(word[0].lower(), self._vocabulary)
        follows = self._start >= 0 and text[self._reach : word.start()] in (" ", "-", "\u00a0")
        if not parts and follows and word[0].lower() in self._vocabulary.joining:
            self._joined, self._reach = True, word.end()
            return
        if self._start >= 0 and (not parts or not follows or not self._fits(parts)):
            yield from self.end(text)
        if not parts:
            return
        if self._start < 0:
            self._start = word.start()
        self._add(parts)
        self._end, self._reach, self._joined = word.end(), word.end(), False

    def end(self, text: str) -> Iterator[AmountMention]:
        """The number so far, if it is one: articles alone are none, nor are short signs without figures."""
        if self._start >= 0 and self._counts:
            spelled = text[self._start : self._end]
            after = _AFTER.match(text, self._end)
            unit = _unit(after[1], [self._vocabulary]) if after else ""
            number = Decimal(self._total + self._current)
            number = -number if _is_negative(text, self._start) else number
            told = text[self._start : after.end()] if after and unit else spelled
            yield AmountMention(told, (Amount(number, Decimal(1), unit),), spelled)
        self._clear()

    def _fits(self, parts: Sequence[str]) -> bool:
        """Whether another word can go on with the number: `twenty five` is one, `two five` are two."""
        value, rest = self._value(parts[0]), self._current % 100
        if value >= 1000:
            return not self._total or self._total % 1000 == 0
        if parts[0] in self._vocabulary.powers:
            return 0 < self._current < (10 if value == 100 else 100)
        if self._joined and rest in (20, 30, 40, 50, 60) and value in (1, 11):
            return True  # vingt et un, soixante et onze
        if self._vocabulary.by_twenties and value in _BY_TWENTIES.get(rest, ()):
            return True
        return (rest == 0 and value < 100 and bool(self._current or self._total)) or (
            rest >= 20 and rest % 10 == 0 and 0 < value < 10 and not self._joined
        )

    def _add(self, parts: Sequence[str]) -> None:
        for part in parts:
            value = self._value(part)
            if value >= 1000:
                self._total, self._current = self._total + max(self._current, 1) * value, 0
            elif part in self._vocabulary.powers:
                self._current = max(self._current, 1) * value
            elif value == 20 and self._current % 100 == 4 and self._vocabulary.by_twenties:
                self._current += 76
            else:
                self._current += value
            is_number = part in self._vocabulary.numbers
            self._counts = self._counts or is_number or (part in self._vocabulary.powers and len(part) > _SHORT)

    def _value(self, part: str) -> int:
        return self._counting[part]


def _parts(word: str, vocabulary: Vocabulary) -> list[str]:
    """The counting words in a word: `fünfundzwanzig` has two. Nothing if anything else is in it."""
    word = next((word.removesuffix(end) for end in vocabulary.times if word.endswith(end)), word)
    if word in vocabulary.counting:
        return [word]
    if not vocabulary.in_one_word:
        return []
    part, whole = _compounds(vocabulary.language)
    return part.findall(word) if whole.fullmatch(word) else []


@cache
def _compounds(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds the counting words in one word, and what tells that nothing else is in it: without going back, for
    `dreizehn` could be taken apart too."""
    words = vocabulary(language)
    part = "|".join(sorted(words.counting, key=len, reverse=True))
    joining = "|".join(words.joining)
    # linear: atomic groups give nothing back
    return re.compile(part), re.compile(f"(?>{part})(?>(?:(?>{joining})?(?>{part}))*)")
