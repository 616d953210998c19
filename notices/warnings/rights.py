"""Rights that a person wrote into a letter, and a review that record and letter disagree about."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.warnings.findings import Finding

_REVIEW = "outcome.review.available"


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    for position, right in enumerate(content["rights"]):
        if right.strip() and ("rights", right, "") not in case.drafted:
            sentence = f"Right {position + 1} is not the draft's: does the person have it, and is it worded so?"
            yield Finding("own_right", f"rights.{position}", sentence, (right,))
    available, offered = case.facts.get(_REVIEW), content["human_review_available"]
    if isinstance(available, bool) and available is not offered:
        letter = "this letter offers a review" if offered else "this letter offers no review"
        sentence = f"In the record, {_REVIEW} is {str(available).lower()}, and {letter}: find out which holds."
        yield Finding("contradiction", "how_to_request_review", sentence)
