import secrets
import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from accounts.models import Member, Organization
from config.http.timestamps import minute_in_words
from config.leases import Leased
from config.tenancy import TenantQuerySet
from config.wrapped_secrets import WrappedSecret
from custody.inspection_models import Damage, DamageAlert, Inspection

__all__ = ["Damage", "DamageAlert", "Inspection"]  # besides the models below


class Installation(models.Model):
    """Identity of this installation: one row, made with the first vault outside the database. Each of these vaults has
    it as a marker, so that an empty directory or another installation's disk is not mistaken for the vault."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    uid = models.UUIDField(default=uuid.uuid4, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="one_installation")]

    def __str__(self) -> str:
        return str(self.uid)


class Key(WrappedSecret):
    """A key of an organization: the holder of its secret and, for a signing key, the public half.

    A local key's secret is stored here, wrapped under the master key. Other secrets never leave the customer's key
    management service, and `configuration` says how to reach it. New records use the active key of a purpose. A retired
    key still opens and verifies its records.
    """

    class Purpose(models.TextChoices):
        SIGNING = "signing"
        WRAPPING = "wrapping"
        INDEX = "index"

    class Provider(models.TextChoices):
        LOCAL = "local", _("this service")
        AWS = "aws", _("AWS KMS")
        GCP = "gcp", _("Google Cloud KMS")
        AZURE = "azure", _("Azure Key Vault")

    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="custody_keys")
    purpose = models.CharField(max_length=16, choices=Purpose.choices)
    key_id = models.CharField(max_length=64)
    algorithm = models.CharField(max_length=32)
    public_pem = models.TextField(blank=True)
    provider = models.CharField(max_length=8, choices=Provider.choices, default=Provider.LOCAL)
    configuration = models.JSONField(default=dict, blank=True, help_text="Texts; of secrets only where they are kept.")
    created_at = models.DateTimeField(auto_now_add=True)
    valid_from = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the oldest record came in that this key may sign, if that was queued before the key was made.",
    )
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(provider="local") | (Q(wrapped_by="") & ~Q(purpose="index")),
                name="secrets_of_others_are_not_here",
            ),
            models.UniqueConstraint(
                fields=["organization", "purpose"],
                condition=Q(retired_at=None),
                name="one_active_key_per_purpose",
            ),
            models.UniqueConstraint(fields=["organization", "key_id"], name="key_ids_are_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.key_id[:16]}"

    @classmethod
    def with_secret(cls) -> models.QuerySet["Key"]:
        return super().with_secret().filter(provider=cls.Provider.LOCAL)

    @property
    def context(self) -> str:
        return f"custody.Key {self.organization_id} {self.purpose} {self.key_id}"


class OfKeyQuerySet(TenantQuerySet["KeyOutage"]):
    organization_path = "key__organization"


class KeyOutage(models.Model):
    """A key that its key management service does not let us use. The row is deleted when the outage ends."""

    key = models.OneToOneField(Key, on_delete=models.CASCADE, primary_key=True, related_name="outage")
    since = models.DateTimeField()
    failures = models.PositiveIntegerField(default=1)
    next_try_at = models.DateTimeField(help_text="Until then the queue leaves it alone.")
    reason = models.CharField(max_length=500, blank=True)

    objects = OfKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.key_id} since {minute_in_words(self.since)}"


class OfOutageQuerySet(TenantQuerySet["KeyAlert"]):
    organization_path = "outage__key__organization"


class KeyAlert(Leased):
    """A mail to a member about a key outage: one for each member, and none after its end."""

    outage = models.ForeignKey(KeyOutage, on_delete=models.CASCADE, related_name="alerts")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    handled_at = models.DateTimeField(null=True)

    objects = OfOutageQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["outage", "member"], name="one_alert_a_key_outage")]

    def __str__(self) -> str:
        return f"{self.outage_id} to {self.member_id}"


def new_target_id() -> str:
    return secrets.token_hex(8)


class StorageTarget(models.Model):
    """A place for sealed objects. It never changes: another place is another target.

    The ids of the first targets are the vault names of earlier versions, which old entries still refer to.
    """

    class Provider(models.TextChoices):
        DATABASE = "database", _("database")
        FILESYSTEM = "filesystem", _("filesystem")
        AWS = "aws", _("Amazon S3")
        GCP = "gcp", _("Google Cloud Storage")
        AZURE = "azure", _("Azure Blob Storage")

    DEPLOYMENTS = (Provider.DATABASE, Provider.FILESYSTEM)
    """Providers of the deployment's targets. A bucket belongs to a customer."""
    FOLDERS = 256

    id = models.CharField(max_length=16, primary_key=True, default=new_target_id, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="None: of all."
    )
    provider = models.CharField(max_length=16, choices=Provider.choices)
    configuration = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True, help_text="Since when no new records go there.")
    choices_made = models.PositiveIntegerField(
        default=0, editable=False, help_text="How often it was chosen. The bucket holds an object for each."
    )
    folders_searched = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="Of 256: those that were compared with our rows since it was retired."
    )
    next_folder = models.PositiveSmallIntegerField(
        default=0, editable=False, help_text="The folder with which its search continues, round and round."
    )

    objects = TenantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Coalesce("organization", models.Value(uuid.UUID(int=0), models.UUIDField())),
                condition=Q(retired_at=None),
                name="one_target_for_new_records",
            ),
            models.CheckConstraint(
                condition=Q(organization__isnull=False) | Q(provider__in=["database", "filesystem"]),
                name="buckets_belong_to_organizations",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.id}"


class OfTargetQuerySet(TenantQuerySet["StorageOutage"]):
    organization_path = "target__organization"


class StorageOutage(models.Model):
    """A period in which an organization's storage did not answer, or refused."""

    target = models.ForeignKey(StorageTarget, on_delete=models.PROTECT, related_name="outages")
    began_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500)

    objects = OfTargetQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["target"], condition=Q(ended_at=None), name="one_storage_outage_at_a_time")
        ]

    def __str__(self) -> str:
        return f"{self.target} since {self.began_at}"


class OfStorageOutageQuerySet(TenantQuerySet["StorageAlert"]):
    organization_path = "outage__target__organization"


class StorageAlert(Leased):
    """A mail to a member about a storage outage: one, however many records wait."""

    outage = models.ForeignKey(StorageOutage, on_delete=models.CASCADE, related_name="+")
    member = models.ForeignKey(Member, on_delete=models.CASCADE, related_name="+")
    handled_at = models.DateTimeField(null=True)

    objects = OfStorageOutageQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["outage", "member"], name="one_alert_a_storage_outage")]
        indexes = [models.Index(fields=["id"], condition=Q(handled_at=None), name="storage_alerts_waiting")]

    def __str__(self) -> str:
        return f"{self.outage} to {self.member_id}"


class Entry(models.Model):
    """Custody of one record: the statement that was signed about it, and the place of its sealed bytes.

    While the record is queued, `signature` and `key_id` are those of `signers.QueueSigner` and are shown to no one.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("sealed here, not yet signed")
        RESERVED = "reserved", _("signed, not yet in the vault")
        STORED = "stored", _("in the vault")
        DISPOSED = "disposed", _("destroyed under a retention policy")

    record_id = models.UUIDField(primary_key=True, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+", db_index=False)
    kind = models.CharField(max_length=16)
    received_at = models.DateTimeField()
    target = models.ForeignKey(
        StorageTarget,
        on_delete=models.PROTECT,
        related_name="+",
        db_column="vault",
        db_index=False,
        # The check would have every insert of every organization lock the same row: with 32 clients PostgreSQL then
        # inserts a tenth less. It could prevent nothing, because targets are never deleted.
        db_constraint=False,
    )
    state = models.CharField(max_length=8, choices=State.choices)
    statement = models.BinaryField()
    signature = models.BinaryField()
    key_id = models.CharField(max_length=64)

    objects = TenantQuerySet.as_manager()

    class Meta:
        verbose_name_plural = _("entries")
        indexes = [
            models.Index(fields=["organization", "-received_at", "-record_id"], name="entries_newest"),
            models.Index(
                fields=["organization", "received_at"], condition=Q(state="reserved"), name="entries_reserved"
            ),
            models.Index(fields=["received_at"], condition=Q(state="queued"), name="entries_queued"),
            models.Index(
                fields=["organization", "received_at"], condition=Q(state="queued"), name="entries_to_sign"
            ),  # SQLite uses an index for one organization's rows only if it begins with the organization
            models.Index(
                fields=["organization", "-received_at", "-record_id"],
                condition=Q(state="disposed"),
                name="entries_disposed",
            ),
        ]

    def __str__(self) -> str:
        return str(self.record_id)


class WaitingObject(Leased):
    """The sealed object of a queued or reserved entry, until it is in its vault. The lease belongs to the request that
    brought it, or to the reconciler, which signs a queued object first."""

    DUE = Coalesce("lease_until", "next_try_at", "queued_at")
    """When a worker may claim the row. A lease ends later than the pause before it."""
    UNTRIED = Q(lease_until=None, next_try_at=None)
    """Rows that a worker may claim at any time: a clock that is ahead may have set `queued_at`."""

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="+")
    organization = models.ForeignKey(
        Organization, on_delete=models.PROTECT, related_name="+", db_index=False, db_constraint=False
    )  # no constraint: the entry's own covers both
    queued_at = models.DateTimeField()
    body = models.BinaryField()

    objects = TenantQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index("organization", Coalesce("lease_until", "next_try_at", "queued_at"), name="waiting_by_turn"),
            models.Index(
                fields=["organization", "queued_at"],
                condition=Q(lease_until=None, next_try_at=None),
                name="waiting_untried",
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def key(self) -> str:
        """The object's key in the vault."""
        return object_key(self.record.organization_id, self.record_id)


class DisposalQuerySet(TenantQuerySet["Disposal"]):
    organization_path = "record__organization"


class Disposal(Leased):
    """The destruction of a record: the signed statement, which stays, and its progress.

    Once this row is committed, the record cannot be read. Until `finished_at`, its statement may be missing from the
    journal, and its data key and object may still be in storage outside the database.
    """

    record = models.OneToOneField(Entry, on_delete=models.PROTECT, primary_key=True, related_name="disposal")
    root = models.UUIDField(help_text="The record id of the first record of its family.")
    policy = models.PositiveIntegerField(help_text="The number of the retention policy.")
    statement = models.BinaryField()
    signature = models.BinaryField()
    key_id = models.CharField(max_length=64)
    disposed_at = models.DateTimeField()
    journaled = models.BooleanField(default=False)
    finished_at = models.DateTimeField(null=True)
    kept_until = models.DateTimeField(null=True, help_text="By the lock of its storage: the object, without its key.")
    recoverable_until = models.DateTimeField(null=True, help_text="By an administrator of its storage: soft delete.")
    problem = models.CharField(max_length=300, blank=True, help_text="Why it is not finished, at the last attempt.")

    objects = DisposalQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["record"], condition=models.Q(finished_at=None), name="disposals_unfinished"),
            models.Index(fields=["problem"], condition=models.Q(finished_at=None), name="disposals_failing"),
            models.Index(fields=["root"], name="disposals_by_family"),
        ]

    def __str__(self) -> str:
        return str(self.pk)


class JournalFile(models.Model):
    """A file of the journal of disposals whose lines are in this database. A file that is only in the journal was
    written after the backup that this database was restored from."""

    key = models.CharField(max_length=128, primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TenantQuerySet.as_manager()

    def __str__(self) -> str:
        return self.key


class SealedObject(models.Model):
    """An object of the database vault. On PostgreSQL the keys are compared by their bytes, so that the primary key's
    index serves prefixes without a second index."""

    key = models.CharField(max_length=128, primary_key=True)
    body = models.BinaryField()

    def __str__(self) -> str:
        return self.key


def object_key(organization_id: uuid.UUID, record_id: uuid.UUID) -> str:
    """Return the key of a record's sealed object, in every vault."""
    return f"{organization_id.hex}/records/{record_id.hex[:2]}/{record_id.hex}"


def data_key_key(organization_id: uuid.UUID, record_id: uuid.UUID) -> str:
    """Return the key of a record's wrapped data key, in vaults whose objects may be locked."""
    return f"{organization_id.hex}/keys/{record_id.hex[:2]}/{record_id.hex}"
