from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

Mark = Literal["", "draft", "withdrawn"]


@dataclass(frozen=True, slots=True)
class Letter:
    """The parts of a letter. The same letter gives the same bytes in each form.

    Args:
        organization: name of the sender, as printed.
        sender: address and contact of the organization, a line each; "" prints none.
        signatory: `name`, `function` and `telephone` of the person who signs. Without a name and a function, the
            organization signs.
        recipient: a free object; `name`, `address` (text or list of lines) and `reference` are printed if they are
            text. `greeted` is the name in the greeting if it differs from `name`.
        content: the twelve content fields of the contract.
        dated: day of the approval, or today for a draft.
        mark: the watermark of every page.
        address: short URL of the public page that checks the letter; "" prints no such box.
        review_code: the code to request a review there; "" if the letter offers none.
        proof: the file with the proofs of the cited fields; b"" for none.
        notice_id: printed on every page, to match loose pages; "" for a preview.
        asserted_by: id of the key that approved the letter, printed with that fact; "" if a signed-in person did.
        locale: region for the format of dates, as in `en_GB`; "" is the language's default.
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
