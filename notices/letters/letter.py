from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

Mark = Literal["", "draft", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Letter:
    """All that a letter is made of. The same letter gives the same bytes in each of its forms.

    Args:
        organization: who writes, as printed.
        sender: address and contact of the organization, a line each; "" prints none.
        signatory: `name`, `function` and `telephone` of who signs; without a name or function the organization does.
        recipient: a free object; `name`, `address` (text or list of lines) and `reference` are printed if they are
            text. `greeted` is the name in the greeting where it is not `name`.
        content: the twelve content fields of the contract.
        dated: day of the approval, or today for a draft.
        mark: what is printed across every page.
        address: short URL of the public page that checks the letter; "" prints no such box.
        review_code: what the person needs to ask for a review there; "" if there is no review.
        proof: the file with the proofs of the cited fields; b"" if there is none.
        notice_id: printed, so that loose pages find together; "" for what is no notice yet.
        asserted_by: id of the key that approved it, where no signed-in person did; printed with that fact.
        locale: the region by whose customs the date is written, as in `en_GB`; "" is the language's default.
    """

    organization: str
    sender: str
    recipient: Mapping[str, Any]
    content: Mapping[str, Any]
    dated: date
    mark: Mark
    address: str = ""
    review_code: str = ""
    proof: bytes = b""
    notice_id: str = ""
    locale: str = ""
    signatory: Mapping[str, Any] = field(default_factory=dict)
    asserted_by: str = ""
