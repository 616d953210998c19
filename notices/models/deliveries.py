import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from config.http.timestamps import day_in_words
from config.leases import Leased
from notices.models.notices import Notice
from notices.models.querysets import NoticePartQuerySet


class Delivery(Leased):
    """One delivery of an approved notice, as recorded. A mail waits here until the mail server accepts it."""

    class Channel(models.TextChoices):
        EMAIL = "email"
        POST = "post"
        PORTAL = "portal"
        HAND = "hand"

    notice = models.ForeignKey(Notice, on_delete=models.PROTECT, related_name="deliveries")
    channel = models.CharField(max_length=8, choices=Channel.choices)
    address = models.TextField(blank=True, help_text="The address used.")
    reference = models.CharField(max_length=200, blank=True, help_text="The provider's, such as a tracking number.")
    letter_digest = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the file that was mailed.")
    recorded_by = models.CharField(max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)
    handled_at = models.DateTimeField(null=True, help_text="When a mail went out; for other channels at once.")
    delivered_at = models.DateTimeField(null=True, blank=True)
    returned_at = models.DateTimeField(null=True, blank=True)
    returned_because = models.TextField(blank=True)

    objects = NoticePartQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("deliveries")
        indexes = [
            models.Index(fields=["created_at"], condition=Q(handled_at=None), name="letters_to_mail"),
            models.Index(fields=["handled_at"], condition=Q(delivered_at__isnull=False), name="letters_by_day"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} on {day_in_words(self.created_at)}"

    @property
    def organization_id(self) -> uuid.UUID:
        return self.notice.organization_id
