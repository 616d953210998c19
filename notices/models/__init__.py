from notices.models.approvals import Approval, AuthorityGrant, SealedNotice
from notices.models.deliveries import Delivery
from notices.models.notices import Contributor, Notice, NoticeQuerySet, NoticeRevision, Step, new_address
from notices.models.reminders import Reminder
from notices.models.review_requests import UNFINISHED, ReviewRequest, ReviewRequestQuerySet
from notices.models.settings import NoticeSettings, Phrase, languages
from notices.models.stored_checks import StoredCheck

__all__ = [
    "UNFINISHED",
    "Approval",
    "AuthorityGrant",
    "Contributor",
    "Delivery",
    "Notice",
    "NoticeQuerySet",
    "NoticeRevision",
    "NoticeSettings",
    "Phrase",
    "Reminder",
    "ReviewRequest",
    "ReviewRequestQuerySet",
    "SealedNotice",
    "Step",
    "StoredCheck",
    "languages",
    "new_address",
]
