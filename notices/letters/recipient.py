"""To whom a letter goes, as it is printed.

A recipient can be set without a second pair of eyes, so it is no longer than an address: else somebody could write a
letter of their own above the approved one.
"""

from collections.abc import Mapping
from typing import Any

from notices.letters.printable import lines, readable

MOST_LINES = 8
LONGEST_LINE = 80
LONGEST_REFERENCE = 256
"""As long as the index keeps that of a decision."""
_CUT = "…"


def address_lines(recipient: Mapping[str, Any]) -> list[str]:
    """Name and address, a line each."""
    address = recipient.get("address")
    parts = address if isinstance(address, list) else [address]
    return [line for part in (recipient.get("name"), *parts) for line in lines(part)]


def printed(recipient: Mapping[str, Any]) -> dict[str, Any]:
    """What a letter prints of a stored recipient, however long: `static/notices/verify.js` takes no more for one."""
    return {
        "address": [_cut(line, LONGEST_LINE) for line in address_lines(recipient)[:MOST_LINES]],
        "reference": _cut(" ".join(lines(recipient.get("reference"))), LONGEST_REFERENCE),
    }


def problem(recipient: Mapping[str, Any]) -> str:
    """What is too long to be printed whole, and how to mend it; "" if nothing is. What it says is not repeated."""
    found = address_lines(recipient)
    if len(found) > MOST_LINES or any(len(line) > LONGEST_LINE for line in found):
        return (
            f"The recipient's name and address have at most {MOST_LINES} lines of {LONGEST_LINE} characters, "
            "both together: enter them shorter."
        )
    told = readable(recipient.get("reference"))
    if "\n" in told or len(told) > LONGEST_REFERENCE:
        return f"The recipient's reference is one line of at most {LONGEST_REFERENCE} characters: enter it shorter."
    return ""


def _cut(told: str, longest: int) -> str:
    return told if len(told) <= longest else f"{told[: longest - 1]}{_CUT}"
