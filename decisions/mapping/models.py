from django.db import models
from django.db.models import F, Q

from accounts.models import Organization
from config.leases import Leased
from config.tenancy import TenantQuerySet

MAX_NAME = 128
MAX_UNKNOWN_PATH = 512  # characters


class Mapping(models.Model):
    """A decision system of an organization, by whatever identifies its records: system name and versions, source, or
    the value of a field."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=MAX_NAME)
    system_name = models.CharField(max_length=256, blank=True)
    system_versions = models.CharField(max_length=128, blank=True, help_text="A range such as >=4,<5. Empty means all.")
    source = models.CharField(max_length=128, blank=True)
    field_path = models.CharField(max_length=1024, blank=True)
    field_value = models.CharField(max_length=256, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "name"], name="one_mapping_per_name"),
            models.CheckConstraint(
                condition=~Q(system_name="", source="", field_path=""), name="a_mapping_selects_records"
            ),
            models.CheckConstraint(
                condition=Q(system_versions="") | ~Q(system_name=""), name="a_version_range_has_its_system"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class MappingVersionQuerySet(TenantQuerySet["MappingVersion"]):
    organization_path = "mapping__organization"


class MappingVersion(models.Model):
    """A version of a mapping. It never changes, except that it is confirmed once."""

    mapping = models.ForeignKey(Mapping, on_delete=models.CASCADE, related_name="versions", db_index=False)
    number = models.PositiveIntegerField()
    entries = models.JSONField(help_text="In order, as decisions.record.meanings.Entry writes them.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the entries in canonical JSON.")
    created_at = models.DateTimeField(auto_now_add=True)
    author_kind = models.CharField(max_length=16)
    author_id = models.CharField(max_length=64)
    author_label = models.CharField(max_length=256)
    author_mail = models.CharField(max_length=254, blank=True, help_text="The person behind the author.")
    confirmed_at = models.DateTimeField(null=True)
    confirmed_by = models.CharField(max_length=300, blank=True)
    is_confirmed_alone = models.BooleanField(default=False, help_text="Author and confirmer are the same.")

    objects = MappingVersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mapping", "number"], name="one_mapping_version_per_number"),
            models.CheckConstraint(
                condition=Q(confirmed_at=None, confirmed_by="")
                | (Q(confirmed_at__gte=F("created_at")) & ~Q(confirmed_by="")),
                name="a_confirmation_names_its_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.mapping}, version {self.number}"


class MappingProposal(Leased):
    """Proposed entries for the fields of sample records, which a person completes on a page.

    A worker fills `rows`. Sample records are not stored.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+", db_index=False)
    mapping = models.ForeignKey(Mapping, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    name = models.CharField(max_length=MAX_NAME, help_text="The name of the mapping, if it is new.")
    system_name = models.CharField(max_length=256, blank=True)
    languages = models.JSONField(help_text="The languages of the words for codes and labels.")
    samples = models.PositiveIntegerField(help_text="How many records to read.")
    samples_read = models.PositiveIntegerField(default=0)
    rows = models.JSONField(null=True, help_text="A row for each field, with its proposed entry. Examples are masked.")
    is_saved = models.BooleanField(default=False, help_text="A version of the mapping has the entries.")
    unexplained = models.PositiveIntegerField(null=True, help_text="Fields without an entry in the saved version.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["organization"], name="mapping_proposals")]

    def __str__(self) -> str:
        return self.name


class MappingWatch(models.Model):
    """The time until which an organization's records were looked through for fields that no one has explained."""

    organization = models.OneToOneField(Organization, on_delete=models.CASCADE, primary_key=True, related_name="+")
    looked_until = models.DateTimeField()

    objects = TenantQuerySet.as_manager()

    def __str__(self) -> str:
        return f"watch of {self.organization_id}"


class OfMappingQuerySet(TenantQuerySet["UnknownField"]):
    organization_path = "mapping__organization"


class UnknownField(models.Model):
    """A field or code that a confirmed mapping does not explain, with the number of records of a day that had it."""

    mapping = models.ForeignKey(Mapping, on_delete=models.CASCADE, related_name="unknown_fields", db_index=False)
    day = models.DateField()
    path = models.CharField(max_length=MAX_UNKNOWN_PATH)
    problem = models.CharField(max_length=128)
    example = models.CharField(max_length=64, help_text="Masked: x for a letter, 9 for a digit.")
    records = models.PositiveIntegerField()

    objects = OfMappingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["mapping", "day", "path", "problem"], name="one_unknown_field_a_day")
        ]

    def __str__(self) -> str:
        return self.path


class UnknownFieldMailQuerySet(TenantQuerySet["UnknownFieldMail"]):
    organization_path = "mapping__organization"


class UnknownFieldMail(Leased):
    """A day's mail to the owner of a mapping about its unknown fields."""

    mapping = models.ForeignKey(Mapping, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    handled_at = models.DateTimeField(null=True)

    objects = UnknownFieldMailQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["mapping", "day"], name="one_unknown_field_mail_a_day")]

    def __str__(self) -> str:
        return f"unknown fields of {self.day}"
