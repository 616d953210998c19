"""The only JSON reader for outside input: request bodies, records, lines of a bulk upload.

Common parsers (json, orjson, msgspec, pydantic) accept duplicate keys and return the last, and some accept NaN. A
record that two readers understand differently is no evidence, so this reader refuses what RFC 8259 calls unpredictable
and RFC 7493 (I-JSON) forbids.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

MAX_DEPTH = 64
MAX_BYTES = 2**20
LITERALS = {True: "true", False: "false", None: "null"}
_MAX_EXPONENT_DIGITS = 9
_MAX_DIGITS = 300  # a double reaches 308 before the point, so a shorter number without an exponent is in range
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUSPECT_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")  # of NUL or half a surrogate pair
# linear: the parser has read every text before the bracket that ends the search
_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|([\[{])|([\]}])', re.DOTALL)


class InvalidJSON(ValueError):
    """The bytes are not acceptable JSON.

    Attributes:
        reason: what is wrong, in words, without repeating values of the document.
        position: character offset of the fault if known, else 0.
        general: the reason without keys of the document.
        path: keys and list positions of the refused value, or None if the bytes are not JSON.
    """

    def __init__(self, reason: str, position: int = 0, general: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.general = general or reason
        self.path: tuple[str | int, ...] | None = None


def read(
    data: bytes,
    *,
    number: Callable[[str], Any] = float,
    integer: Callable[[str], Any] = int,
    nul: bool = True,
) -> Any:
    """Parse one JSON document strictly.

    Args:
        data: UTF-8 bytes, without a byte order mark.
        number: converts the spelling of a number with a fraction or an exponent. Pass `Decimal` to lose no digit.
        integer: converts the spelling of other numbers. Pass `spelling` for both to get numbers as bytes.
        nul: whether texts and keys may contain U+0000, which a column of PostgreSQL cannot hold.

    Returns:
        The document as dict, list, str, bool, None and the results of `number` and `integer`.

    Raises:
        InvalidJSON: not UTF-8, not JSON, a duplicate key, NaN or Infinity, a number no double can hold, a lone
            surrogate in a text, or more than 64 levels of nesting.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJSON("the bytes are not UTF-8", error.start) from None
    document = _parse(text, number=number if number is spelling else _in_range(number), integer=integer)
    # Few documents need either walk: depth cannot exceed the number of opening brackets, and a NUL or half a surrogate
    # pair needs an escape.
    if text.count("{") + text.count("[") > MAX_DEPTH and _is_too_deep(document):
        raise _too_deep(text)
    if _SUSPECT_ESCAPE.search(text):
        for fault in _faults(document, nul=nul):
            raise fault
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
        raise _too_deep(text) from None
    except ValueError:  # InvalidJSON of a refused value, or an integer of more than 4,300 digits
        raise _located(text) from None


def _located(text: str) -> InvalidJSON:
    """Return the error of the first refused value, with its path.

    Parses the document again, with an error in the place of each refused value.
    """

    def keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        try:
            return _unique_keys(pairs)
        except InvalidJSON as fault:
            return {**dict(pairs), _repeated(pairs): fault}

    number = _caught(_check_range)
    try:
        document = json.loads(
            text,
            object_pairs_hook=keys,
            parse_float=number,
            parse_int=number,
            parse_constant=_caught(_refuse_constant),
        )
        return next(_faults(document))
    except json.JSONDecodeError as error:
        return InvalidJSON(error.msg, error.pos)
    except RecursionError:
        return _too_deep(text)


def _caught(check: Callable[[str], None]) -> Callable[[str], InvalidJSON | None]:
    def catch(spelled: str) -> InvalidJSON | None:
        try:
            check(spelled)
        except InvalidJSON as fault:
            return fault
        return None

    return catch


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        # Escaped, no half of a surrogate pair and no control character reaches the answer.
        reason = f"the key {json.dumps(_repeated(pairs)[:64])} appears twice in one object"
        raise InvalidJSON(reason, general="a key appears twice in one object")
    return unique


def _repeated(pairs: list[tuple[str, Any]]) -> str:
    return Counter(key for key, _ in pairs).most_common(1)[0][0]


def spelling(number: str) -> bytes:
    """Return a number's spelling as bytes, which no text of the document equals. For `read`."""
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
        try:
            int(spelled)
        except ValueError:  # CPython refuses integers of more than 4,300 digits
            raise InvalidJSON("a number has too many digits") from None
    elif math.isinf(float(spelled)):
        raise InvalidJSON("a number is too large for a double")
    if len(spelled.lower().partition("e")[2].lstrip("+-0")) > _MAX_EXPONENT_DIGITS:
        raise InvalidJSON("a number has an exponent of too many digits")  # Decimal would fail, or round to zero


def _refuse_constant(name: str) -> None:
    raise InvalidJSON(f"{name} is not a JSON number")


def _is_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node) if isinstance(child, dict | list)]
    return bool(level)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _too_deep(text: str) -> InvalidJSON:
    depth, position = 0, 0
    for bracket in _BRACKET.finditer(text):
        depth += bool(bracket[1]) - bool(bracket[2])
        if depth > MAX_DEPTH:
            position = bracket.start()
            break
    return InvalidJSON(f"nested deeper than {MAX_DEPTH} levels", position)


def _faults(node: Any, *, nul: bool = True) -> Iterator[InvalidJSON]:
    """Yield the faults of a document's values in order, each with its path."""
    fault = _fault(node, nul)
    if fault:
        fault.path = ()
        yield fault
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        for fault in _faults(child, nul=nul):
            fault.path = (key, *(fault.path or ()))
            yield fault


def _fault(node: Any, nul: bool) -> InvalidJSON | None:
    if isinstance(node, InvalidJSON):
        return node
    for text in node if isinstance(node, dict) else [node]:
        if isinstance(text, str) and _SURROGATE.search(text):
            return InvalidJSON("a text contains half of a surrogate pair")
        if isinstance(text, str) and not nul and "\x00" in text:
            return InvalidJSON("a text contains the character NUL, which cannot be kept here")
    return None


# A body has at most 1 MiB, so no number has more digits than this. Normalising must never round.
_EXACT = Context(prec=MAX_BYTES, Emax=MAX_EMAX, Emin=MIN_EMIN)


def content(data: bytes) -> bytes:
    """Return the canonical spelling of a document that `read` accepts: equal exactly for equal contents.

    Key order, white space, escapes and `1.50` against `1.5` make no difference. A digit beyond a double's precision
    does. The result is at most a few times as long as the document.
    """
    return canonical(read(data, number=Decimal, integer=Decimal))


def canonical(document: Any) -> bytes:
    """Return a document as JSON with sorted keys and no spaces.

    Args:
        document: the result of `read`. A `Decimal` is spelled by its value, so that `1.50` is `1.5`, and not as valid
            JSON, so that nothing else has the same spelling.
    """
    spelled = json.dumps(
        document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_canonical_decimal
    )
    return spelled.encode("utf-8", "surrogatepass")


def _canonical_decimal(value: Decimal) -> str:
    # Half a surrogate pair distinguishes a number from a text of the same characters: no text from `read` contains one.
    return "\ud800" + (str(value.normalize(_EXACT)) if value else "0")
