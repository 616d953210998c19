"""The recipient of a letter, as printed.

A recipient can be set without a second person, so it is limited to the length of an address. Otherwise it could hold
another letter above the approved one.
"""

from collections.abc import Mapping
from typing import Any

from notices.letters.printable import printable, printable_lines
from notices.localization.sentences import one_line
from notices.sensitive.values import kinds

MAX_LINES = 8
MAX_WIDTH = 80
MAX_REFERENCE = 256
"""Characters, as in the index of decisions."""
_ELLIPSIS = "…"


def address_lines(recipient: Mapping[str, Any]) -> list[str]:
    """Return the lines of name and address."""
    address = recipient.get("address")
    parts = address if isinstance(address, list) else [address]
    return [line for part in (recipient.get("name"), *parts) for line in printable_lines(part)]


def printed_fields(recipient: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a letter prints of a stored recipient, shortened to the limits of `verify.js`."""
    return {
        "address": [_shorten(line, MAX_WIDTH) for line in address_lines(recipient)[:MAX_LINES]],
        "reference": _shorten(" ".join(printable_lines(recipient.get("reference"))), MAX_REFERENCE),
        "greeted": greeted(recipient),
    }


def with_reference(recipient: Mapping[str, Any], recorded: object) -> dict[str, Any]:
    """Return a recipient with a reference: its own, or the record's if that is fit to be printed.

    A record may hold a card or national number there. Such a number is removed from the recipient, too.

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
    """Return the name in the greeting, on one line; "" for none."""
    for part in ("greeted", "name"):
        for line in printable_lines(recipient.get(part)):
            return _shorten(line, MAX_WIDTH)
    return ""


def length_problem(recipient: Mapping[str, Any]) -> str:
    """Return a sentence that names the part that is too long, and how to fix it, without quoting it; "" for none."""
    lines = address_lines(recipient)
    if len(lines) > MAX_LINES or any(len(line) > MAX_WIDTH for line in lines):
        return (
            f"The recipient's name and address have at most {MAX_LINES} lines of {MAX_WIDTH} characters, "
            "both together: enter them shorter."
        )
    reference = printable(recipient.get("reference"))
    if "\n" in reference or len(reference) > MAX_REFERENCE:
        return f"The recipient's reference is one line of at most {MAX_REFERENCE} characters: enter it shorter."
    return ""


def _shorten(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}{_ELLIPSIS}"
