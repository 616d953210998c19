"""Caches derived from a notice. Each row can be deleted at any time."""

from django.db import models

from notices.models.notices import Notice
from notices.models.querysets import NoticePartQuerySet


class StoredCheck(models.Model):
    """The last check of a notice, so that a read does not repeat it."""

    notice = models.OneToOneField(Notice, on_delete=models.CASCADE, primary_key=True, related_name="+")
    digest = models.CharField(max_length=64, help_text="Of everything that the result depends on.")
    valid_until = models.DateTimeField(null=True, help_text="When a deadline of the checklist passes.")
    result = models.BinaryField(help_text="As `notices.check_results` packs it.")

    objects = NoticePartQuerySet.as_manager()

    def __str__(self) -> str:
        return f"check of {self.notice_id}"


class StoredPdf(models.Model):
    """The letter of a notice as PDF, for the last revision that a reader requested."""

    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="+", db_index=False)
    paper = models.CharField(max_length=8)
    digest = models.CharField(max_length=64, help_text="Of the letter and what made it.")
    file = models.BinaryField()

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["notice", "paper"], name="one_pdf_of_a_paper")]

    def __str__(self) -> str:
        return f"{self.paper} of {self.notice_id}"
