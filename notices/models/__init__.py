from notices.models.approvals import Approval, AuthorityGrant, SealedNotice
from notices.models.deliveries import Delivery
from notices.models.derived import StoredCheck, StoredPdf
from notices.models.notices import Contributor, Notice, NoticeQuerySet, NoticeRevision, Step, new_address
from notices.models.reminders import Reminder
from notices.models.review_requests import UNFINISHED, ReviewRequest, ReviewRequestQuerySet
from notices.models.settings import NoticeSettings, Phrase, languages

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
    "StoredPdf",
    "languages",
    "new_address",
]
