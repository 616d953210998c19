"""Refusals of the services and selectors of notices. A class without a sentence gets one where it is raised."""

from collections.abc import Mapping, Sequence
from typing import Any

from config.errors import DomainError, Fault


class WrongState(DomainError):
    """The state of a notice, delivery or request does not allow this."""

    code = "wrong_state"


class StaleRevision(DomainError):
    """The caller has not seen the current revision."""

    code = "stale_revision"


class NewVersionExists(DomainError):
    """The notice has an unfinished new version already."""

    code = "new_version_exists"
    sentence = "There is a new version of this notice already. Edit that one, or withdraw it."


class OtherRecipient(DomainError):
    """The recipient of a letter about the outcome is not the person who made the request."""

    code = "other_recipient"

    def __init__(self, request: int) -> None:
        super().__init__(
            f"The recipient has another name or reference than who made request R-{request}, so the letter would not "
            "tell them. Leave the recipient out, or the request."
        )


class NotApprovable(DomainError):
    """The notice lacks something, or was written under an earlier version of its pack.

    Args:
        proposals: entries of a mapping, ready to be sent, for the fields that no one has explained.
    """

    code = "not_approvable"

    def __init__(self, sentence: str, proposals: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(sentence)
        if proposals:
            self.members = {"proposals": proposals}


class Unacknowledged(DomainError):
    """The approver has not acknowledged every warning about the notice."""

    code = "unacknowledged"


class NotGranted(DomainError):
    """The organization requires an authority grant, and the caller holds none that fits."""

    code = "not_granted"


class WrongApprover(DomainError):
    """The named approver or authority is missing, invisible, or not the caller's."""

    code = "wrong_approver"


class OwnNotice(DomainError):
    """The approver contributed to the notice, against the four-eyes rule."""

    code = "own_notice"


class OwnGrant(DomainError):
    """The caller would grant authority to themselves."""

    code = "own_grant"
    sentence = "You cannot grant authority to yourself. Ask another owner or admin to grant it."


class ImpossibleTime(DomainError):
    """A grant cannot end before it begins, nor a letter arrive before it is approved."""

    code = "impossible_time"


class MissingReason(DomainError):
    """This needs a reason, and none was given."""

    code = "missing_reason"


class MissingAuthority(DomainError):
    """The grant names no readable authority."""

    code = "missing_authority"
    sentence = "Say in words which authority is granted."


class MembersOnly(DomainError):
    """A key cannot hold a notice."""

    code = "members_only"
    sentence = "Only a member can hold a notice."


class RecipientTooLong(DomainError):
    """The recipient is longer than an address, and could hold a second letter."""

    code = "recipient_too_long"


class RecipientFixed(DomainError):
    """The change touches fields of the recipient that the approval covers."""

    code = "recipient_fixed"
    sentence = (
        "Once the notice is approved, only name, address and e-mail address of its recipient can change; "
        "reference, language and all else stay as they were approved."
    )


class NoMailAddress(DomainError):
    """The letter has no mail address."""

    code = "no_mail_address"


class MailWaiting(DomainError):
    """A mail of the letter is waiting to go out."""

    code = "mail_waiting"


class NothingToProve(DomainError):
    """Only an approved letter has a proof."""

    code = "nothing_to_prove"
    sentence = "The notice is not approved yet, so there is nothing to prove."


class NoReviewOffered(DomainError):
    """The letter offers no review, or is withdrawn."""

    code = "no_review_offered"
    sentence = "For this letter no review can be asked for here."


class WrongCode(DomainError):
    """The code is not the one in the letter."""

    code = "wrong_code"
    status = 422
    sentence = "This is not the code in the letter."


class TooManyTries(DomainError):
    """Too many wrong codes were tried for this letter, or from this network."""

    code = "too_many_tries"
    status = 429
    sentence = "Too many wrong codes were tried. Try again later."


class OtherWordsSealed(Fault):
    """Custody holds an approval that the database lacks, for example after an older backup was restored."""

    code = "other_words_sealed"
    sentence = (
        "Custody holds an earlier approval of this notice, with other words, from before the database was restored. "
        "Make a new version of the notice, and approve that."
    )
