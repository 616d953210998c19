import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet, Subquery
from django.utils import timezone

from accounts.audit import Actor
from accounts.models import Organization
from config import db
from config.errors import Fault, NotFound
from config.http import strict_json
from custody import selectors as custody
from custody.models import Entry
from custody.sealing.sealer import Damaged
from custody.selectors import Disposed
from custody.vaults import VaultUnavailable
from decisions import records
from decisions.mapping import readings
from decisions.models import Decision, MappingVersion
from decisions.selectors import record_of
from notices import asserted, checklist, deadlines, fitting, phrasebook
from notices.drafting import Redaction, readers_language, redaction_of
from notices.errors import OtherWordsSealed
from notices.letters import Letter, recipient
from notices.mapped_facts import MappedFacts
from notices.models import (
    AuthorityGrant,
    Contributor,
    Delivery,
    Notice,
    NoticeQuerySet,
    NoticeRevision,
    NoticeSettings,
    Phrase,
    ReviewRequest,
    ReviewRequestQuerySet,
    Step,
)
from notices.packs import Pack, packs
from notices.packs.clocks import Purpose
from notices.previews import Sender
from notices.record_paths import Facts
from notices.schemas import NoticeQuery, ReviewRequestQuery
from notices.sensitive import sensitive_fields

RESTORER = Actor("system", "custody", "custody, after a database restore")
"""The author of a restored revision, and the creator of a restored notice: who wrote them is unknown."""
_FILTERS = {"state": "state", "pack": "pack", "decision_id": "decision__decision_id"}


def facts_of(decision: Decision, mapping: MappingVersion | None = None) -> Facts:
    """Read the record behind a decision from custody, with a mapping if given. Raises Fault if it cannot be read."""
    return facts_in(decision.fetched or custody.fetched(record_of(decision)), mapping)


def facts_for(notice: Notice) -> Facts:
    """Read the record behind a notice with the mapping that it was drafted with. Raises Fault if it cannot be read."""
    return facts_of(notice.decision, notice.mapping)


def facts_in(fetched: custody.Fetched, mapping: MappingVersion | None = None) -> Facts:
    """Open a record. Raises Fault if it cannot be opened."""
    signed = Facts(fetched.open().payload, sealed_digest=fetched.digest)
    return MappedFacts(signed, mapping) if mapping else signed


def mapping_for(decision: Decision, signed: Facts) -> MappingVersion | None:
    """Return the confirmed mapping that a new notice reads a record with. Reconsiderations have a form of our own."""
    if decision.kind != records.KIND:
        return None
    return readings.version_for(decision.organization_id, signed.document, decision.source)


def mapped(organization_id: uuid.UUID, signed: Facts) -> Facts:
    """Return a record that is not in custody as the mapping of its system reads it."""
    version = readings.version_for(organization_id, signed.document)
    return MappedFacts(signed, version) if version else signed


def settings_of(organization_id: uuid.UUID) -> NoticeSettings:
    """Return the organization's notice settings, or the defaults."""
    row = db.only(NoticeSettings.objects.for_organization(organization_id))
    return row.settled() if row else NoticeSettings(organization_id=organization_id)


def settings_for(notice: Notice) -> NoticeSettings:
    """Return the settings of a notice's organization, or the defaults. Those of `notice` come with the notice."""
    try:
        return notice.organization.notice_settings.settled()
    except NoticeSettings.DoesNotExist:
        return NoticeSettings(organization_id=notice.organization_id)


def offered_packs(decision: Decision) -> fitting.Offer:
    """Return the packs for a notice about a decision, the fitting ones first.

    For a reconsideration, the record of the first decision shows which packs fit.
    """
    try:
        record = facts_of(decision.first or decision).get
    except Fault:  # without a record, no pack is excluded
        return fitting.offer(packs().values(), lambda path: None)
    return fitting.offer(packs().values(), record)


def placeholders_of(organization: Organization) -> dict[str, str]:
    """Return the organization's values for the placeholders in the packs' texts."""
    return sender_of(organization).texts


def sender_of(organization: Organization) -> Sender:
    """Return the organization's name, texts, phrasebook and signatory for notices, as they are today."""
    settings = settings_of(organization.pk)
    phrasebook = partial(phrasebook_of, organization.pk, settings=settings)
    return Sender(organization.name, settings.placeholders, phrasebook, settings.signatory)


def phrasebook_of(
    organization_id: uuid.UUID, language: str, settings: NoticeSettings | None = None
) -> phrasebook.Phrasebook:
    """Return the organization's phrases in a language, with the fields that it withholds.

    Args:
        settings: the organization's, if already read.
    """
    rows = Phrase.objects.for_organization(organization_id).filter(language=language)
    phrases = (
        phrasebook.Phrase(row.key, row.sentence, row.label, row.withheld, tuple(row.authors.values())) for row in rows
    )
    lists = settings or settings_of(organization_id)
    sensitive = sensitive_fields(tuple(lists.sensitive_fields), tuple(lists.printable_fields))
    return phrasebook.Phrasebook(phrases, sensitive)


def current_revision(notice: Notice) -> NoticeRevision:
    """Return the current revision of a notice. An approval ends editing, so its revision stays the current one."""
    if notice.state in Notice.FINISHED and hasattr(notice, "approval"):
        return notice.approval.revision
    return notice.revisions.order_by("-number")[0]


def notice_with_letter(notice_id: uuid.UUID) -> Notice:
    """Return a notice of any organization, also a disposed one, for a task that has its id from a row of ours."""
    return _complete(Notice.with_disposed.unscoped("its id comes from a row of ours")).get(pk=notice_id)


def case_of(
    notice: Notice,
    facts: Facts,
    *,
    redaction: Redaction | None = None,
    phrasebook: phrasebook.Phrasebook | None = None,
    drafted: Mapping[str, Any] | None = None,
) -> checklist.Case:
    """Return the case to check a notice against.

    Args:
        facts: the record behind the notice's decision, of `facts_of`.
        redaction: the fields that letters about the record withhold today, if already known.
        phrasebook: of `phrasebook_of`, if already read.
        drafted: the drafted content, if its revision is not saved yet.
    """
    pack, facts = pack_of(notice), facts.in_language(notice.language)
    if redaction is None:
        if phrasebook is None:
            phrasebook = phrasebook_of(notice.organization_id, notice.language, settings_for(notice))
        redaction = redaction_of(facts, pack, phrasebook)
    return checklist.Case(
        facts=facts,
        pack=pack,
        received_at=notice.decision.received_at,
        reader_language=readers_language(facts, notice.recipient),
        redaction=redaction,
        delivered_at=delivered_at(notice),
        requested_review=requested_review(notice),
        earlier_version=notice.pack_version if _is_outdated(notice, pack) else "",
        drafted=checklist.stated(_drafted(notice) if drafted is None else drafted),
    )


def _drafted(notice: Notice) -> Mapping[str, Any]:
    """Return the content that the service drafted: the first revision of the notice, or of its first version.

    It is empty for a notice that was restored from custody, whose draft is lost, and for a notice that cannot change.
    """
    if notice.state not in Notice.EDITABLE:
        return {}
    origin = notice
    while origin.supersedes:
        origin = origin.supersedes
    first = origin.revisions.filter(number=1).exclude(author_id=RESTORER.id)
    content: Mapping[str, Any] = first.values_list("content", flat=True).first() or {}
    return content


def _is_outdated(notice: Notice, pack: Pack) -> bool:
    """Whether a draft was written under another edition of its pack."""
    return notice.state in Notice.EDITABLE and notice.pack_digest != pack.digest


def requested_review(notice: Notice) -> checklist.RequestedReview | None:
    """Return the first open request for review of the decision, from any of its letters, and when its outcome was told.

    Returns None if no element of the pack depends on a request.
    """
    if not any(element.when.on_request for element in pack_of(notice).elements):
        return None
    requests = ReviewRequest.objects.for_organization(notice.organization_id)
    requests = requests.filter(notice__decision=notice.decision_id, closed_at=None)
    first = requests.order_by("received_at").first()
    return checklist.RequestedReview(first.received_at, first.told_at) if first else None


def delivered_at(notice: Notice) -> datetime | None:
    """Return the time of the notice's first delivery that did not come back."""
    if notice.state in Notice.UNSENT:
        return None
    valid = (row.delivered_at for row in notice.deliveries.all() if row.delivered_at and not row.returned_at)
    return min(valid, default=None)


def mail_waits(notice: Notice) -> bool:
    """Whether a mail of the notice's letter is waiting to go out."""
    return notice.deliveries.filter(handled_at=None, delivered_at=None).exists()


def pack_of(notice: Notice) -> Pack:
    """Return the pack of a notice."""
    return packs()[notice.pack]


def notices(organization_id: uuid.UUID, query: NoticeQuery) -> QuerySet[Notice]:
    """Return the organization's notices that match a query's filters."""
    filters = query.model_dump(include=set(_FILTERS), exclude_none=True)
    rows = Notice.objects.for_organization(organization_id).select_related("decision", "holder__user")
    rows = rows.filter(**{_FILTERS[name]: value for name, value in filters.items()})
    if query.decision_id:  # whose index begins with the organization
        rows = rows.filter(decision__organization=organization_id)
    if query.due == "overdue":
        return overdue(rows)
    if query.due == "at_risk":
        return at_risk(rows, settings_of(organization_id).at_risk_days)
    return rows


def without_notice(rows: QuerySet[Decision], pack: Pack) -> QuerySet[Decision]:
    """Return the decisions without a notice under a pack, apart from withdrawn ones."""
    notices = Notice.objects.unscoped("those of each decision, which are its organization's")
    standing = notices.filter(decision=OuterRef("pk"), pack=pack.id).exclude(state=Notice.State.WITHDRAWN)
    return rows.exclude(Exists(standing))


def overdue(rows: QuerySet[Notice]) -> QuerySet[Notice]:
    """Return the unsent notices that are past their deadline."""
    return rows.filter(state__among=Notice.UNSENT, due_at__lt=timezone.now())


def at_risk(rows: QuerySet[Notice], days: int) -> QuerySet[Notice]:
    """Return the unsent notices that are due within this many days."""
    now = timezone.now()
    return rows.filter(state__among=Notice.UNSENT, due_at__gte=now, due_at__lte=now + timedelta(days=days))


def sent_back(rows: QuerySet[Notice], person: str) -> QuerySet[Notice]:
    """Return the drafts with words of a person whose reviewer requested changes and that wait to be submitted again.

    Args:
        person: their email address.
    """
    notice = {"notice": OuterRef("pk")}
    steps = Step.objects.unscoped("those of each notice").filter(**notice).exclude(kind=Step.Kind.READDRESSED)
    newest = steps.order_by("-created_at", "-pk").values("kind")[:1]
    wrote = Contributor.objects.unscoped("those of each notice").filter(
        **notice, part=Contributor.Part.WORDS, mail=person
    )
    drafts = rows.filter(Exists(wrote), state=Notice.State.DRAFT)
    return drafts.alias(newest_step=Subquery(newest)).filter(newest_step=Step.Kind.CHANGES_REQUESTED)


@dataclass(frozen=True, slots=True)
class Attention:
    """Notices and review requests of an organization that are late or nearly due."""

    overdue: QuerySet[Notice]
    at_risk: QuerySet[Notice]
    requests: QuerySet[ReviewRequest]

    @property
    def anything(self) -> bool:
        return self.overdue.exists() or self.at_risk.exists() or self.requests.exists()


def attention(organization_id: uuid.UUID) -> Attention:
    """Return the organization's late and nearly due notices and requests, by its setting `at_risk_days`."""
    days = settings_of(organization_id).at_risk_days
    rows = Notice.objects.for_organization(organization_id)
    due = unfinished_requests(organization_id).filter(due_at__lte=timezone.now() + timedelta(days=days))
    return Attention(overdue(rows), at_risk(rows, days), due.with_answer().select_related("notice"))


def notice(organization_id: uuid.UUID, notice_id: str) -> Notice:
    """Return a notice of the organization, with the rows that a letter and a checklist need.

    Raises:
        Disposed: the notice was disposed of, with its decision.
        NotFound: there is no notice of this id.
    """
    try:
        row = _complete(Notice.with_disposed.for_organization(organization_id)).get(pk=notice_id)
    except (Notice.DoesNotExist, ValidationError):
        raise NotFound("There is no notice of this id in your organization.") from None
    if row.disposed_at:
        raise Disposed(row.disposal)
    return row


def published(address: str) -> Notice:
    """Return the approved and sealed notice behind a letter's short address, also a disposed one. Raises NotFound.

    After the restore of an older database, custody may hold a letter whose approval is missing: `OtherWordsSealed`.
    """
    notices = _complete(Notice.with_disposed.unscoped("the address is in the letter"))
    if not address.isalnum():  # PostgreSQL refuses a NUL
        raise NotFound
    notice = db.only(notices.filter(address=address, approval__isnull=False, sealed__isnull=False))
    if notice is None:
        raise NotFound
    return notice


def _complete(notices: NoticeQuerySet) -> NoticeQuerySet:
    """Add the rows that a letter and a checklist need.

    The approved revision and the sealed record come when they are read: PostgreSQL takes longer to plan one join of
    all these tables than to run them all.
    """
    return notices.select_related(
        "organization__notice_settings", "decision__record", "approval", "sealed", "holder__user"
    )


def review_requests(organization_id: uuid.UUID, query: ReviewRequestQuery) -> QuerySet[ReviewRequest]:
    """Return the organization's requests for review, with their answers."""
    rows = ReviewRequest.objects.for_organization(organization_id)
    match query.state:
        case "open":
            rows = rows.waiting()
        case "to_be_told":
            rows = rows.to_be_told()
        case "answered":
            rows = rows.answered()
        case "closed":
            rows = rows.exclude(closed_at=None)
    return rows.with_answer().select_related("notice__decision")


def unfinished_requests(organization_id: uuid.UUID) -> ReviewRequestQuerySet:
    """Return the organization's requests without a reconsideration, or without a letter about its outcome."""
    return ReviewRequest.objects.for_organization(organization_id).unfinished()


def review_request(organization_id: uuid.UUID, request_id: int) -> ReviewRequest:
    """Return a request of the organization, with its answer. Raises NotFound for any other id."""
    rows = ReviewRequest.objects.for_organization(organization_id).filter(pk=request_id)
    request = rows.with_answer().select_related("notice__decision").first()
    if request is None:
        raise NotFound("There is no review request of this id in your organization.")
    return request


def delivery(notice: Notice, delivery_id: int) -> Delivery:
    """Return a delivery of a notice. Raises NotFound for any other id."""
    row = db.only(notice.deliveries.filter(pk=delivery_id))
    if row is None:
        raise NotFound("This notice has no delivery of this id.")
    return row


def authority_grant(organization_id: uuid.UUID, grant_id: int) -> AuthorityGrant:
    """Return a grant of the organization, with its member. Raises NotFound for any other id."""
    rows = AuthorityGrant.objects.for_organization(organization_id).select_related("user")
    grant = db.only(rows.filter(pk=grant_id))
    if grant is None:
        raise NotFound("There is no authority grant of this id in your organization.")
    return grant


def request_deadlines(
    request: ReviewRequest, purposes: tuple[Purpose, ...] = ("answer", "acknowledgement")
) -> list[deadlines.Deadline]:
    """Return the deadlines for the answer to a request and for its acknowledgement; each soonest first.

    Args:
        purposes: one of the two, or both.

    Raises:
        Fault: the record cannot be read.
    """
    notice = request.notice
    pack, facts = pack_of(notice), facts_for(notice)
    times = {"received_at": notice.decision.received_at, "requested_at": request.received_at}
    return [deadline for what in purposes for deadline in deadlines.compute(pack, facts, what=what, **times)]


def letter(notice: Notice) -> Letter:
    """Return the letter of a notice: the approved letter, or a draft that is marked as such.

    Raises:
        Fault: the sealed notice cannot be read, or is on its way into custody.
    """
    if notice.state in (Notice.State.DRAFT, Notice.State.IN_REVIEW) or not hasattr(notice, "approval"):
        return _draft_letter(notice)
    if not hasattr(notice, "sealed") or notice.sealed.record.state == Entry.State.QUEUED:
        raise VaultUnavailable(because="the approved notice is on its way into custody")
    sealed = sealed_content(notice)
    if sealed["revision"]["digest"] != notice.approval.revision.digest:
        raise OtherWordsSealed
    approved = sealed["letter"]
    return Letter(
        organization=approved["organization"],
        # Notices from before the contact was sealed with them get today's contact.
        sender=approved["sender"] if "sender" in approved else settings_of(notice.organization_id).contact,
        recipient=recipient.printed_fields(notice.recipient),
        content=approved["content"],
        dated=approved_on(sealed),
        mark="withdrawn" if notice.state == Notice.State.WITHDRAWN else "",
        address=public_address(notice),
        review_code=sealed["review_code"] if approved["content"]["human_review_available"] else "",
        proof=strict_json.canonical(approved),
        notice_id=str(notice.pk),
        locale=locale_of(notice),
        signatory=approved.get("signatory", {}),
        asserted_by=asserted.key_of(sealed["approval"]["basis"]),
    )


def sealed_content(notice: Notice) -> dict[str, Any]:
    """Read the sealed record of an approved notice. Raises Fault if it cannot be read."""
    sealed: dict[str, Any] = strict_json.read(custody.opened(notice.sealed.record).payload)
    if (sealed["notice_id"], sealed["about"]["record_id"]) != (str(notice.pk), str(notice.decision_id)):
        raise Damaged(because="the row of the sealed notice points to another notice's record")
    return sealed


def approved_on(sealed: dict[str, Any]) -> date:
    """Return the day of the approval, from the sealed record."""
    return datetime.fromisoformat(sealed["letter"]["approved_at"]).date()


def locale_of(notice: Notice) -> str:
    """Return the region for the format of a notice's dates, as in `en_GB`; "" is the language's default."""
    return pack_of(notice).locales.get(notice.language, "")


def public_address(notice: Notice) -> str:
    """Return the address of the page that a letter's QR code leads to."""
    return f"{settings.BASE_URL}/n/{notice.address}"


def _draft_letter(notice: Notice) -> Letter:
    own = settings_of(notice.organization_id)
    return Letter(
        organization=notice.organization.name,
        sender=own.contact,
        recipient=recipient.printed_fields(notice.recipient),
        content=current_revision(notice).content,
        dated=timezone.now().date(),
        mark="withdrawn" if notice.state == Notice.State.WITHDRAWN else "draft",
        address="",
        review_code="",
        proof=b"",
        notice_id=str(notice.pk),
        locale=locale_of(notice),
        signatory=own.signatory,
    )
