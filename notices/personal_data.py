"""Declarations of the personal data in notices."""

from config.personal_data import declare, deleted, emptied, retained
from notices.models import (
    Approval,
    AuthorityGrant,
    Contributor,
    Delivery,
    Notice,
    NoticeRevision,
    NoticeSettings,
    Phrase,
    Reminder,
    ReviewRequest,
    SealedNotice,
    Step,
    StoredCheck,
    StoredPdf,
)

_COUNTED = "Reports count it."
_STAFF = "It names a member of the organization, not the person of a record."
_OURS = "One of a few words of this service."


def declare_all() -> None:
    declare(
        Notice,
        recipient=emptied("name, address, mail address and reference of the person"),
        holder=emptied("the member who worked on it"),
        created_by=emptied("the member or key that drafted it"),
        pack=retained("the pack", _COUNTED),
        pack_version=retained("its version", _COUNTED),
        pack_digest=retained("its digest", _COUNTED),
        language=retained("the language of the letter", _COUNTED),
        state=retained("where it stood", _COUNTED),
        due_clock=retained("which clock of the pack set the deadline", _COUNTED),
        address=retained("the address of the letter's public page", "Random; the letter leads to the page."),
    )
    declare(
        NoticeRevision,
        content=emptied("what the letter says"),
        digest=emptied("SHA-256 of that, which could confirm a guess"),
        cited=emptied("the values that it cites from the record"),
        not_applicable=emptied("what does not apply, and why, in the words of the organization"),
        author_id=emptied("who wrote it"),
        author_label=emptied("who wrote it"),
        author_kind=retained("whether a member, a key or the service wrote it", _OURS),
    )
    declare(
        Contributor,
        part=deleted("which part they had"),
        actor_kind=deleted("whether they were a member or a key"),
        actor_id=deleted("who had a part in the words"),
        mail=deleted("their mail address"),
    )
    declare(
        Step,
        kind=deleted("what happened to the notice"),
        reason=deleted("why, in the words of the organization"),
        actor_label=deleted("who did it"),
    )
    declare(
        StoredCheck,
        digest=deleted("a digest of all that the last check depended on"),
        result=deleted("what the last check found, with values that the letter cites"),
    )
    declare(
        StoredPdf,
        paper=deleted("the size of the paper"),
        digest=deleted("a digest of the letter"),
        file=deleted("the letter as PDF"),
    )
    declare(
        Approval,
        approver=emptied("who approved it"),
        authority=emptied("the authority of the approver"),
        comment=emptied("what they remarked"),
        sender=emptied("the contact in the letter's head"),
        signatory=emptied("who signs the letter, with function and telephone"),
        acknowledged=emptied("the warnings that the approver acknowledged, in sentences that quote the letter"),
        open_warnings=emptied("the warnings that were open at the approval, in sentences that quote the letter"),
        actor_id=emptied("the member or key that approved it"),
        actor_kind=retained("whether that was a member or a key", _OURS),
        basis=retained("'signed in', or 'asserted by' the id of a key", _COUNTED),
    )
    declare(
        SealedNotice,
        letter_digest=retained(
            "SHA-256 of the letter's proof file",
            "The proof holds random salts, so that no guess can be confirmed by it. It is emptied where a letter cites "
            "nothing and so has none.",
        ),
    )
    declare(
        Delivery,
        address=emptied("where the letter went"),
        reference=emptied("such as a tracking number"),
        letter_digest=emptied("SHA-256 of the file that was mailed"),
        recorded_by=emptied("the member or key that recorded it"),
        returned_because=emptied("why it came back, in the words of the organization"),
        channel=retained("by mail, by post and so on", _COUNTED),
    )
    declare(
        ReviewRequest,
        message=deleted("what the person wrote"),
        email=deleted("their mail address"),
        due_clock=deleted("which clock of the pack set the deadline"),
        closed_by=deleted("who closed it"),
        closed_because=deleted("why, in the words of the organization"),
    )
    declare(Reminder)
    declare(
        AuthorityGrant,
        authority=retained("as what a member may approve", _STAFF),
        packs=retained("ids of packs", _STAFF),
        evidence=retained("where the authority is written down", _STAFF),
        granted_by=retained("who granted it", _STAFF),
    )
    declare(
        NoticeSettings,
        default_pack=retained("the id of a pack", "It is a setting."),
        placeholders=retained("names and addresses of the organization and of authorities", "It is a setting."),
        sensitive_fields=retained("names of fields that letters withhold", "It is a setting."),
        printable_fields=retained("names of fields that letters print all the same", "It is a setting."),
        signatory=retained("who signs letters, with function and telephone", _STAFF),
        loosenings=retained(
            "who asked to loosen a safeguard of approvals, and when it counts",
            "It is a setting, and names a member of the organization.",
        ),
    )
    declare(
        Phrase,
        language=retained("a language", "It is a setting."),
        key=retained("a reason code, or the path of a field", "It is a setting."),
        sentence=retained("the organization's words for it", "It is a setting, and the same for every record."),
        label=retained("the organization's name for it", "It is a setting, and the same for every record."),
        owner=retained("who answers for it", _STAFF),
        approved_version=retained("a version", "It is a setting."),
        authors=retained("who wrote it", _STAFF),
    )
