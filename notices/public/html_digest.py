"""What the HTML file of a letter is, to the last character."""

import hashlib
from dataclasses import replace

from notices import letters
from notices.letters import Letter, recipient
from notices.letters.printable import printable

_LEFT_OUT = "…"


def html_digest(letter: Letter) -> str:
    """SHA-256 (hex) of the HTML form of a letter as it is given out today, but never marked as withdrawn.

    After a change of how letters look, files from before are not confirmed as a whole; nor, where the contact was not
    sealed with the notice yet, after a change of the sender's contact.

    Recipient, greeting, reference and code are left out, or whoever has the proof alone could try names against the
    digest.
    `exactly` in static/notices/verify.js leaves the same out of a reader's file.
    """
    reference = printable(letter.recipient.get("reference")) and _LEFT_OUT
    code = letter.review_code and _LEFT_OUT
    greeted = recipient.greeted(letter.recipient) and _LEFT_OUT
    issued = replace(letter, mark="", recipient={"reference": reference, "greeted": greeted}, review_code=code)
    return hashlib.sha256(letters.render_html(issued).encode()).hexdigest()
