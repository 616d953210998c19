"""What a letter writes about: one field of the record, and in which form."""

from typing import Any, Literal, NamedTuple

from notices.drafting.phrases import Withholding
from notices.localization.sentences import one_line
from notices.phrasebook import Phrase
from notices.record_paths import Fact

Form = Literal[
    "field", "phrase", "prose", "code", "factor", "factor_name", "condition", "missing",
    "opening", "opening_decided", "offer", "accept_how", "accept_until", "accept_within",
]  # fmt: skip
Direction = Literal["factor", "factor_for", "factor_against", "factor_raised", "factor_lowered"]


class Topic(NamedTuple):
    """A field to write about, and how."""

    fact: Fact
    form: Form = "field"
    """`phrase`: in the organization's words for a reason. `prose`: in the record's own sentences. `factor_name`: of the
    factor there is no more than a name. `opening`: what the letter is about. `offer` and `accept_…`: a counteroffer."""
    phrase: Phrase | None = None
    name: str = ""
    """What a factor is called."""
    direction: Direction = "factor"
    """Of a factor: which way it counted."""
    withheld: bool = False
    """It belongs into the letter, and is kept out of it."""
    why: Withholding | None = None
    """Of a factor that is withheld: the field that it is about may be elsewhere."""
    is_own: bool = False
    """Of a factor: its value stands beside its name, so that a unit in the name is the value's."""


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not one_line(value))


def is_prose(value: Any) -> bool:
    return isinstance(value, str) and not is_blank(value)
