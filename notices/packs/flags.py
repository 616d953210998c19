"""Fields of a record that are true or false. Anything else in one of them is read as neither."""

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
"""What every letter is drafted by, whatever its pack asks."""

_OR_WHY: Final = frozenset({"outcome.review.not_commercially_reasonable", "system.high_risk_use"})
"""Flags that may be a text in the place of true: it says why, or under which law."""
_IN_WORDS: Final = frozenset(
    {"", "0", "1", "f", "false", "ja", "n", "nein", "no", "non", "oui", "t", "true", "y", "yes"}
)


def unreadable(record: Callable[[str], Any], paths: Iterable[str]) -> Iterator[str]:
    """The flags that a letter depends on and that are neither true nor false, where the record has them.

    Args:
        record: gives the value at a path of the decision record, None where there is nothing.
        paths: the fields that its pack asks for.
    """
    for path in sorted(FLAGS.intersection(paths) | _EVERY_LETTER):
        if not is_readable(path, record(path)):
            yield path


def is_readable(path: str, value: Any) -> bool:
    """Whether a flag is true or false, or not set: `"no"` is neither, nor is 0."""
    if path in _OR_WHY and isinstance(value, str):
        return value.strip().casefold() not in _IN_WORDS
    return value is None or isinstance(value, bool)
