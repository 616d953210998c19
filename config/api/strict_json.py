"""The one JSON reader for everything that comes from outside: request bodies, records, lines of a bulk upload.

Every common parser (json, orjson, msgspec, pydantic) accepts duplicate keys and keeps the last, and some accept NaN.
A record that two readers understand differently cannot be evidence, so this one refuses what RFC 8259 calls
unpredictable, and RFC 7493 (I-JSON) forbids.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

MAX_DEPTH = 64
MAX_BYTES = 2**20
_MAX_EXPONENT_DIGITS = 9
_MAX_DIGITS = 300  # a double reaches 308 before the point, so a shorter number without an exponent is in range


class InvalidJSON(ValueError):
    """The bytes are not acceptable JSON.

    Attributes:
        reason: what is wrong, in words, without repeating values of the document.
        position: character offset of the fault where one is known, else 0.
        general: the reason without a key of the document.
    """

    def __init__(self, reason: str, position: int = 0, general: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.general = general or reason


def read(data: bytes, *, number: Callable[[str], Any] = float, integer: Callable[[str], Any] = int) -> Any:
    """Parse one JSON document strictly.

    Args:
        data: UTF-8 bytes, without a byte order mark.
        number: makes a value from the spelling of a number that has a fraction or an exponent: `Decimal` where no
            digit may be lost.
        integer: the same for the others. `spelling` for both leaves numbers as they stand, as bytes.

    Returns:
        The document as dict, list, str, bool, None and what `number` and `integer` made.

    Raises:
        InvalidJSON: not UTF-8, not JSON, a duplicate key, NaN or Infinity, a number no double can hold, a NUL or
            lone surrogate in a text, or more than 64 levels of nesting.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJSON("the bytes are not UTF-8", error.start) from None
    document = _parse(text, number=number if number is spelling else _in_range(number), integer=integer)
    # Both walks are needed for few documents: depth cannot exceed the count of opening brackets, and only an escape
    # can smuggle in a NUL or half a surrogate pair.
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(document)
    if "\\u" in text:
        _check_texts(document)
    return document


def _parse(text: str, *, number: Callable[[str], Any], integer: Callable[[str], Any]) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_float=number,
            parse_int=integer,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise InvalidJSON(error.msg, error.pos) from None
    except RecursionError:
        raise InvalidJSON(f"nested deeper than {MAX_DEPTH} levels") from None
    except InvalidJSON:
        raise
    except ValueError:  # CPython refuses to convert integers of more than 4,300 digits
        raise InvalidJSON("a number has too many digits") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        repeated = Counter(key for key, _ in pairs).most_common(1)[0][0]
        # An escaped spelling keeps half a surrogate pair or a control character out of the answer.
        reason = f"the key {json.dumps(repeated[:64])} appears twice in one object"
        raise InvalidJSON(reason, general="a key appears twice in one object")
    return found


def spelling(number: str) -> bytes:
    """For `read`: a number as the bytes that spell it, which no text of the document can be mistaken for."""
    if len(number) > _MAX_DIGITS or "e" in number or "E" in number:
        _check_range(number)
    return number.encode()


def _in_range(number: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(spelled: str) -> Any:
        _check_range(spelled)
        return number(spelled)

    return convert


def _check_range(spelled: str) -> None:
    if spelled.lstrip("-").isdigit():
        int(spelled)  # CPython refuses integers of more than 4,300 digits
    elif math.isinf(float(spelled)):
        raise InvalidJSON("a number is too large for a double")
    if len(spelled.lower().partition("e")[2].lstrip("+-0")) > _MAX_EXPONENT_DIGITS:
        raise InvalidJSON("a number has an exponent of too many digits")  # Decimal would fail, or round to zero


def _refuse_constant(name: str) -> None:
    raise InvalidJSON(f"{name} is not a JSON number")


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
    if level:
        raise InvalidJSON(f"nested deeper than {MAX_DEPTH} levels")


def _check_texts(document: Any) -> None:
    pending = [document]
    while pending:
        node = pending.pop()
        pending.extend(_children(node))
        for text in node if isinstance(node, dict) else [node]:
            if isinstance(text, str):
                if "\x00" in text:
                    raise InvalidJSON("a text contains the character NUL")
                if any("\ud800" <= character <= "\udfff" for character in text):
                    raise InvalidJSON("a text contains half of a surrogate pair")


# A body is at most 1 MiB, so no spelling has more digits than this; normalising must never round.
_EXACT = Context(prec=MAX_BYTES, Emax=MAX_EMAX, Emin=MIN_EMIN)


def same_content(one: bytes, other: bytes) -> bool:
    """Whether two documents that `read` accepted say the same, however they spell it.

    Key order, white space, escapes and `1.50` against `1.5` make no difference; a digit beyond a double's precision
    does.
    """
    return one == other or canonical(read(one, number=Decimal)) == canonical(read(other, number=Decimal))


def canonical(document: Any) -> bytes:
    """One spelling for all spellings of the same content: sorted keys, no spaces, numbers by value.

    Args:
        document: what `read(…, number=Decimal)` returned.

    Returns:
        Bytes that are equal exactly when the contents are: key order, white space, escapes and `1.50` against `1.5`
        make no difference, a digit beyond a double's precision does.
    """
    return json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_canonical_decimal
    ).encode()


def _canonical_decimal(value: Decimal) -> int | str:
    if value == value.to_integral_value():
        return int(value)
    # The NUL tells a number from a text of the same characters: no text that was read contains one.
    return "\x00" + str(value.normalize(_EXACT))
