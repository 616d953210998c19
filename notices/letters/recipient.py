"""To whom a letter goes, as it is printed.

A recipient can be set without a second pair of eyes, so it is no longer than an address: else somebody could write a
letter of their own above the approved one.
"""

from collections.abc import Mapping
from typing import Any

from notices.letters.printable import printable, printable_lines
from notices.localization.sentences import one_line
from notices.sensitive.values import kinds

MAX_LINES = 8
MAX_LINE = 80
MAX_REFERENCE = 256
"""As long as the index keeps that of a decision."""
_ELLIPSIS = "…"


def address_lines(recipient: Mapping[str, Any]) -> list[str]:
    """Name and address, a line each."""
    address = recipient.get("address")
    parts = address if isinstance(address, list) else [address]
    return [line for part in (recipient.get("name"), *parts) for line in printable_lines(part)]


def printed_fields(recipient: Mapping[str, Any]) -> dict[str, Any]:
    """What a letter prints of a stored recipient, however long: `static/notices/verify.js` takes no more for one."""
    return {
        "address": [_shorten(line, MAX_LINE) for line in address_lines(recipient)[:MAX_LINES]],
        "reference": _shorten(" ".join(printable_lines(recipient.get("reference"))), MAX_REFERENCE),
        "greeted": greeted(recipient),
    }


def with_reference(recipient: Mapping[str, Any], recorded: object) -> dict[str, Any]:
    """A recipient with the person's own reference: the record's where none is given, if it is fit to be printed.

    A record may have the number of a card or a national number there: that one is left out, whoever gives it.

    Args:
        recorded: `subject.reference` of the record.
    """
    reference = one_line(str(recorded)) if isinstance(recorded, str | int) and not isinstance(recorded, bool) else ""
    is_sensitive = any(kinds(reference))
    if is_sensitive and recipient.get("reference") == recorded:
        return {name: value for name, value in recipient.items() if name != "reference"}
    is_fit = reference and not is_sensitive and not length_problem({"reference": reference})
    return {**recipient, "reference": reference} if is_fit and "reference" not in recipient else dict(recipient)


def greeted(recipient: Mapping[str, Any]) -> str:
    """The name in the greeting, on one line; "" if there is none."""
    for part in ("greeted", "name"):
        for line in printable_lines(recipient.get(part)):
            return _shorten(line, MAX_LINE)
    return ""


def length_problem(recipient: Mapping[str, Any]) -> str:
    """What is too long to be printed whole, and how to mend it; "" if nothing is. What it says is not repeated."""
    lines = address_lines(recipient)
    if len(lines) > MAX_LINES or any(len(line) > MAX_LINE for line in lines):
        return (
            f"The recipient's name and address have at most {MAX_LINES} lines of {MAX_LINE} characters, "
            "both together: enter them shorter."
        )
    reference = printable(recipient.get("reference"))
    if "\n" in reference or len(reference) > MAX_REFERENCE:
        return f"The recipient's reference is one line of at most {MAX_REFERENCE} characters: enter it shorter."
    return ""


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}{_ELLIPSIS}"
