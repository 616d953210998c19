"""Boolean fields of a record. Any other value in one of them counts as neither true nor false."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

FLAGS: Final = frozenset(
    {
        "approval.licensed_clinician",
        "approval.meets_7001_e_1",
        "outcome.appeal.expedited_available",
        "outcome.appeal.external_review_available",
        "outcome.appeal.independent_review_available",
        "outcome.affiliate_information_used",
        "outcome.application_incomplete",
        "outcome.consumer_report_used",
        "outcome.counteroffer_not_accepted",
        "outcome.existing_account",
        "outcome.information_withheld",
        "outcome.materially_influenced_by_system",
        "outcome.review.available",
        "outcome.review.not_commercially_reasonable",
        "outcome.sole_factor",
        "outcome.solely_automated",
        "outcome.third_party_information_used",
        "subject.grandfathered",
        "system.high_risk_use",
        "system.public_body",
    }
)
_EVERY_LETTER: Final = frozenset(
    {"outcome.materially_influenced_by_system", "outcome.review.available", "outcome.solely_automated"}
)
"""Flags that affect every letter under any pack."""

_OR_WHY: Final = frozenset({"outcome.review.not_commercially_reasonable", "system.high_risk_use"})
"""Flags that may be a text instead of true: a reason, or the law that applies."""
_IN_WORDS: Final = frozenset(
    {"", "0", "1", "f", "false", "ja", "n", "nein", "no", "non", "oui", "t", "true", "y", "yes"}
)


def unreadable(record: Callable[[str], Any], paths: Iterable[str]) -> Iterator[str]:
    """Yield the flags in a record that a letter depends on, but that are neither true nor false.

    Args:
        record: returns the value at a path of the decision record, or None.
        paths: the fields that the letter's pack needs.
    """
    for path in sorted(FLAGS.intersection(paths) | _EVERY_LETTER):
        if not is_readable(path, record(path)):
            yield path


def is_readable(path: str, value: Any) -> bool:
    """Whether a flag is true, false or not set. `"no"` and 0 are not readable."""
    if path in _OR_WHY and isinstance(value, str):
        return value.strip().casefold() not in _IN_WORDS
    return value is None or isinstance(value, bool)
