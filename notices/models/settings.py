"""Notice settings and phrases of an organization."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.four_eyes import Guarded
from accounts.models import Organization
from config.tenancy import TenantQuerySet
from notices.packs import Pack, packs
from notices.phrasebook import MAX_KEY

_MAX_PHRASE = 2000  # characters


def languages() -> list[str]:
    """Return the languages of all packs, in which notices can be written."""
    return sorted({language for pack in packs().values() for language in pack.languages})


class NoticeSettings(Guarded):
    """An organization's settings for drafting and approving notices."""

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, related_name="notice_settings")
    default_pack = models.CharField(max_length=64, default="general")
    placeholders = models.JSONField(
        default=dict, blank=True, help_text="Names and addresses that locked texts need, such as creditor_name."
    )
    require_grants = models.BooleanField(
        default=False, help_text="Only signed-in members with a matching authority grant approve."
    )
    require_other_key = models.BooleanField(
        default=False, help_text="An API key does not approve what it, or another key of its maker, wrote."
    )
    require_acknowledged = models.BooleanField(
        default=False, help_text="Approval under an advisory pack, too, acknowledges every open warning."
    )
    at_risk_days = models.PositiveSmallIntegerField(
        default=7, help_text="A notice is at risk when this many days or fewer are left."
    )
    sensitive_fields = models.JSONField(
        default=list, blank=True, help_text="Names of fields that letters withhold, beside those of the default list."
    )
    printable_fields = models.JSONField(
        default=list, blank=True, help_text="Names that the default list has and letters print all the same."
    )
    signatory = models.JSONField(default=dict, blank=True, help_text="Who signs letters: name, function and telephone.")

    objects = TenantQuerySet.as_manager()

    GUARDS = {
        "require_grants": "only holders of an authority grant approve",
        "require_other_key": "no API key approves what it, or another key of the same origin, wrote",
        "require_acknowledged": "every approval acknowledges the warnings",
        "default_pack": "letters are drafted under a pack that rests on law",
    }

    class Meta:
        verbose_name_plural = _("notice settings")

    def __str__(self) -> str:
        return f"notice settings of {self.organization}"

    @property
    def contact(self) -> str:
        """The sender's address and contact, as the head of a letter prints them."""
        return str(self.placeholders.get("contact", ""))

    def loosens(self, guard: str, to: Any) -> bool:
        """Whether a value is less strict: an advisory pack is less strict than a pack of law."""
        if guard == "default_pack":
            return packs()[str(to)].advisory and not packs()[self.default_pack].advisory
        return super().loosens(guard, to)

    def is_owners_alone(self, guard: str) -> bool:
        """Whether a guard is for owners alone. An admin, too, may choose a pack that is no less strict."""
        return guard != "default_pack"

    def asks_to_acknowledge(self, pack: Pack) -> bool:
        """Whether an approval under a pack must acknowledge each warning."""
        return self.require_acknowledged or not pack.advisory


class Phrase(models.Model):
    """An organization's own words for a reason code or a record field, in one language."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="phrases")
    language = models.CharField(max_length=8)
    key = models.CharField(max_length=MAX_KEY, help_text="A reason code, or the path of a field.")
    sentence = models.TextField(blank=True, help_text="One sentence; {value} becomes the field's value.")
    label = models.CharField(max_length=200, blank=True, help_text="What the field is called.")
    withheld = models.BooleanField(default=False, help_text="The field is not printed.")
    owner = models.CharField(max_length=200, blank=True)
    approved_version = models.CharField(max_length=64, blank=True)
    authors = models.JSONField(
        default=dict, editable=False, help_text="Who wrote sentence and label as they are, and who withheld the field."
    )

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "language", "key"], name="one_phrase_per_key"),
        ]

    def __str__(self) -> str:
        return f"{self.key} ({self.language})"

    def clean(self) -> None:
        """Refuse a phrase that no draft would use. Raises ValidationError."""
        wrong = {}
        if self.language not in languages():
            wrong["language"] = f"Notices are written in {', '.join(languages())}."
        if not (self.sentence.strip() or self.label.strip() or self.withheld):
            wrong["sentence"] = "Give a sentence or a label, or withhold the field."
        if len(self.sentence) > _MAX_PHRASE:
            wrong["sentence"] = f"A sentence has at most {_MAX_PHRASE:,} characters."
        if wrong:
            raise ValidationError(wrong)
