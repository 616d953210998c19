from django.db import models

from notices.models.notices import Notice
from notices.models.querysets import NoticePartQuerySet


class StoredCheck(models.Model):
    """The last check of a notice, so that reading it does not repeat the check. It may vanish at any time."""

    notice = models.OneToOneField(Notice, on_delete=models.CASCADE, primary_key=True, related_name="+")
    digest = models.CharField(max_length=64, help_text="Of everything that the result depends on.")
    valid_until = models.DateTimeField(null=True, help_text="When a deadline of the checklist passes.")
    result = models.BinaryField(help_text="As `notices.check_results` packs it.")

    objects = NoticePartQuerySet.as_manager()

    def __str__(self) -> str:
        return f"check of {self.notice_id}"
