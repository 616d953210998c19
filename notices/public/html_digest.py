"""Digest of a letter's HTML file."""

import hashlib
from dataclasses import replace

from notices import letters
from notices.letters import Letter, recipient
from notices.letters.printable import printable

_LEFT_OUT = "…"


def html_digest(letter: Letter) -> str:
    """Return the SHA-256 (hex) of a letter's HTML form as issued today, without a mark as withdrawn.

    A change of the letters' layout invalidates the digests of earlier files. So does a change of the sender's contact,
    if the contact was not sealed with the notice.

    Recipient, greeting, reference and code are left out. Otherwise a person with the proof alone could guess names and
    test them against the digest. `exactly` in static/notices/verify.js leaves the same out of a reader's file.
    """
    reference = printable(letter.recipient.get("reference")) and _LEFT_OUT
    code = letter.review_code and _LEFT_OUT
    greeted = recipient.greeted(letter.recipient) and _LEFT_OUT
    issued = replace(letter, mark="", recipient={"reference": reference, "greeted": greeted}, review_code=code)
    return hashlib.sha256(letters.render_html(issued).encode()).hexdigest()
