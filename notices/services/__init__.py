"""Every change of notices, by use case. API, back office, tasks and commands call only these."""

from notices.services.delivery import deliver, deliver_letters, letters_wait, record_return
from notices.services.grants import grant_authority, revoke_grant
from notices.services.phrases import put_phrases, remove_phrase
from notices.services.previewing import preview
from notices.services.recipients import set_recipient
from notices.services.reminders import remind, send_reminders
from notices.services.review import approve, hold, reason_against_approval, request_changes, submit, withdraw
from notices.services.review_requests import acknowledge_requests, close_request, newest_request, request_review
from notices.services.revisions import draft, edit, new_version
from notices.services.sealing import seal_approved, seals_wait
from notices.services.settings import change_settings

__all__ = [
    "acknowledge_requests",
    "approve",
    "change_settings",
    "close_request",
    "deliver",
    "deliver_letters",
    "draft",
    "edit",
    "grant_authority",
    "hold",
    "letters_wait",
    "new_version",
    "newest_request",
    "preview",
    "put_phrases",
    "reason_against_approval",
    "record_return",
    "remind",
    "remove_phrase",
    "request_changes",
    "request_review",
    "revoke_grant",
    "seal_approved",
    "seals_wait",
    "send_reminders",
    "set_recipient",
    "submit",
    "withdraw",
]
