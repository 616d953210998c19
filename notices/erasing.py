"""Erasure of notices when the records of their family are disposed of: rows stay, words are erased."""

from django.db.models import QuerySet
from django.utils import timezone

from config import personal_data
from notices.models import (
    Approval,
    Contributor,
    Delivery,
    Notice,
    NoticeRevision,
    ReviewRequest,
    SealedNotice,
    Step,
    StoredCheck,
    StoredPdf,
)


def erase(notices: QuerySet[Notice]) -> None:
    """Erase and hide notices of one organization. Call it in the transaction that disposes of their records.

    Waiting mails, for example in a restored database, are not sent any more.
    """
    now, ids = timezone.now(), list(notices.values_list("pk", flat=True))
    parts = {"notice__in": ids}
    because = "those of the notices, which are of one organization"
    Delivery.objects.unscoped(because).filter(**parts, handled_at=None).update(handled_at=now)
    unsalted = SealedNotice.objects.unscoped(because).filter(**parts, notice__approval__revision__cited={})
    unsalted.update(letter_digest="")
    for model in (StoredCheck, StoredPdf, ReviewRequest, Step, Contributor, Delivery, Approval, NoticeRevision):
        personal_data.erase(model.objects.unscoped(because).filter(**parts))
    gone = Notice.objects.unscoped(because).filter(pk__in=ids)
    personal_data.erase(gone)
    gone.update(disposed_at=now)
