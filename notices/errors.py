"""What services and selectors of notices refuse. Where a class has no sentence, whoever raises it gives one."""

from config.errors import DomainError, Fault


class WrongState(DomainError):
    """A notice, a delivery or a request is not in a state in which this can be done."""

    code = "wrong_state"


class StaleRevision(DomainError):
    """Nobody edits or decides about words they have not seen."""

    code = "stale_revision"


class NewVersionExists(DomainError):
    """A notice has one new version at a time."""

    code = "new_version_exists"
    sentence = "There is a new version of this notice already. Edit that one, or withdraw it."


class OtherRecipient(DomainError):
    """The letter that tells somebody the outcome of their request goes to them: one to another person tells nobody."""

    code = "other_recipient"

    def __init__(self, request: int) -> None:
        super().__init__(
            f"The recipient has another name or reference than who made request R-{request}, so the letter would not "
            "tell them. Leave the recipient out, or the request."
        )


class NotApprovable(DomainError):
    """The notice lacks something, or was written under an earlier version of its pack."""

    code = "not_approvable"


class Unacknowledged(DomainError):
    """There are warnings about the notice, and the approver has not said of each that they looked at it."""

    code = "unacknowledged"


class NotGranted(DomainError):
    """The organization asks for an authority grant, and the caller holds none that fits."""

    code = "not_granted"


class WrongApprover(DomainError):
    """Who approves, and by which authority, is not said as it has to be."""

    code = "wrong_approver"


class OwnNotice(DomainError):
    """Four eyes: nobody approves what they had a hand in."""

    code = "own_notice"


class OwnGrant(DomainError):
    """Nobody gives authority to themselves."""

    code = "own_grant"
    sentence = "Nobody grants authority to themselves; another owner or admin has to."


class ImpossibleTime(DomainError):
    """A grant cannot end before it begins, nor a letter arrive before it is approved."""

    code = "impossible_time"


class MissingReason(DomainError):
    """This is not done without saying why."""

    code = "missing_reason"


class MissingAuthority(DomainError):
    """Whoever reads a grant has to see what it is for."""

    code = "missing_authority"
    sentence = "Say in words which authority is granted."


class MembersOnly(DomainError):
    """A key works on nothing that others should keep their hands off."""

    code = "members_only"
    sentence = "Only a member can hold a notice."


class RecipientTooLong(DomainError):
    """The recipient is longer than an address, so there would be room for a second letter in it."""

    code = "recipient_too_long"


class RecipientFixed(DomainError):
    """An approval covers more of the recipient than where the letter goes."""

    code = "recipient_fixed"
    sentence = (
        "Once the notice is approved, only name, address and e-mail address of its recipient can change; "
        "reference, language and all else stay as they were approved."
    )


class NoMailAddress(DomainError):
    """There is nowhere to mail the letter to."""

    code = "no_mail_address"


class MailWaiting(DomainError):
    """A mail of the letter was asked for and has not gone out."""

    code = "mail_waiting"


class NothingToProve(DomainError):
    """Only an approved letter has a proof."""

    code = "nothing_to_prove"
    sentence = "The notice is not approved yet, so there is nothing to prove."


class NoReviewOffered(DomainError):
    """The letter offers no review, or was taken back."""

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
    """Custody holds an approval that the database has forgotten, as after the restore of an older one."""

    code = "other_words_sealed"
    sentence = (
        "Custody holds an earlier approval of this notice, with other words, from before the database was restored. "
        "Make a new version of the notice, and approve that."
    )
