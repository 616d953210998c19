import uuid
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.models import Organization
from config import db
from config.errors import Fault, NotFound
from config.http import strict_json
from custody import selectors as custody
from custody.models import Entry
from custody.sealing.sealer import Damaged
from custody.selectors import Disposed
from custody.vaults import VaultUnavailable
from decisions.models import Decision
from decisions.selectors import record_of
from notices import asserted, checklist, deadlines, fitting, phrasebook
from notices.drafting import Redaction, readers_language, redaction_of
from notices.errors import OtherWordsSealed
from notices.letters import Letter, recipient
from notices.models import (
    AuthorityGrant,
    Delivery,
    Notice,
    NoticeQuerySet,
    NoticeRevision,
    NoticeSettings,
    Phrase,
    ReviewRequest,
    ReviewRequestQuerySet,
)
from notices.packs import Pack, packs
from notices.packs.clocks import Purpose
from notices.previews import Sender
from notices.record_paths import Facts
from notices.schemas import NoticeQuery, ReviewRequestQuery
from notices.sensitive import sensitive_fields

_FILTERS = {"state": "state", "pack": "pack", "decision_id": "decision__decision_id"}


def facts_of(decision: Decision) -> Facts:
    """The record behind a decision, from custody. Raises Fault if it cannot be read."""
    return Facts(custody.opened(record_of(decision)).payload)


def settings_of(organization_id: uuid.UUID) -> NoticeSettings:
    """The organization's notice settings, the defaults if it has made none."""
    row = db.only(NoticeSettings.objects.for_organization(organization_id))
    return row.settled() if row else NoticeSettings(organization_id=organization_id)


def offered_packs(decision: Decision) -> fitting.Offer:
    """The packs for a notice about a decision, those that fit it first. What a reconsideration is about, the record of
    the first decision tells."""
    rows = Decision.objects.for_organization(decision.organization_id).select_related("record")
    try:
        record = facts_of(rows.get(pk=decision.first_id or decision.pk)).get
    except Fault:  # then nothing is ruled out
        return fitting.offer(packs().values(), lambda path: None)
    return fitting.offer(packs().values(), record)


def placeholders_of(organization: Organization) -> dict[str, str]:
    """What the packs' texts are filled from."""
    return sender_of(organization).texts


def sender_of(organization: Organization) -> Sender:
    """What the organization brings to its notices today."""
    settings = settings_of(organization.pk)
    phrasebook = partial(phrasebook_of, organization.pk, settings=settings)
    return Sender(organization.name, settings.placeholders, phrasebook, settings.signatory)


def phrasebook_of(
    organization_id: uuid.UUID, language: str, settings: NoticeSettings | None = None
) -> phrasebook.Phrasebook:
    """The organization's phrases in a language, and what it withholds whatever they say.

    Args:
        settings: the organization's, if they were read already.
    """
    rows = Phrase.objects.for_organization(organization_id).filter(language=language)
    phrases = (
        phrasebook.Phrase(row.key, row.sentence, row.label, row.withheld, tuple(row.authors.values())) for row in rows
    )
    lists = settings or settings_of(organization_id)
    sensitive = sensitive_fields(tuple(lists.sensitive_fields), tuple(lists.printable_fields))
    return phrasebook.Phrasebook(phrases, sensitive)


def current_revision(notice: Notice) -> NoticeRevision:
    """What the notice says now."""
    return notice.revisions.order_by("-number")[0]


def notice_with_letter(notice_id: uuid.UUID) -> Notice:
    """A notice of any organization, disposed of or not, for a task that has its id from a row of ours."""
    return _complete(Notice.with_disposed.unscoped("its id comes from a row of ours")).get(pk=notice_id)


def case_of(
    notice: Notice, facts: Facts, *, redaction: Redaction | None = None, settings: NoticeSettings | None = None
) -> checklist.Case:
    """What a notice is checked against.

    Args:
        facts: the record behind the notice's decision, as `facts_of` reads it.
        redaction: what letters about the record leave out today, if that was found out already.
        settings: the organization's, if they were read already.
    """
    pack = pack_of(notice)
    if redaction is None:
        redaction = redaction_of(facts, pack, phrasebook_of(notice.organization_id, notice.language, settings))
    return checklist.Case(
        facts=facts,
        pack=pack,
        received_at=notice.decision.received_at,
        reader_language=readers_language(facts, notice.recipient),
        redaction=redaction,
        delivered_at=delivered_at(notice),
        requested_review=requested_review(notice),
        earlier_version=notice.pack_version if _is_outdated(notice, pack) else "",
    )


def _is_outdated(notice: Notice, pack: Pack) -> bool:
    """Whether a draft was written under another edition of its pack."""
    return notice.state in Notice.EDITABLE and notice.pack_digest != pack.digest


def requested_review(notice: Notice) -> checklist.RequestedReview | None:
    """Return the first request for a review of the decision, which any of its letters may have led to, and when the
    person was told the outcome. None where the pack asks nothing of it. A request that was closed runs no more."""
    if not any(element.when.on_request for element in pack_of(notice).elements):
        return None
    requests = ReviewRequest.objects.for_organization(notice.organization_id)
    requests = requests.filter(notice__decision=notice.decision_id, closed_at=None)
    first = requests.order_by("received_at").first()
    return checklist.RequestedReview(first.received_at, first.told_at) if first else None


def delivered_at(notice: Notice) -> datetime | None:
    """When the notice first reached the person by a delivery that did not come back."""
    if notice.state in Notice.UNSENT:
        return None
    stands = notice.deliveries.filter(delivered_at__isnull=False, returned_at=None)
    return stands.order_by("delivered_at").values_list("delivered_at", flat=True).first()


def mail_waits(notice: Notice) -> bool:
    """Whether a mail of its letter was asked for and has not gone out."""
    return notice.deliveries.filter(handled_at=None, delivered_at=None).exists()


def pack_of(notice: Notice) -> Pack:
    """The pack a notice was drafted under."""
    return packs()[notice.pack]


def notices(organization_id: uuid.UUID, query: NoticeQuery) -> QuerySet[Notice]:
    """The organization's notices that match a query's filters."""
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
    """Those decisions about which there is no notice under a pack, or only withdrawn ones."""
    notices = Notice.objects.unscoped("those of each decision, which are its organization's")
    standing = notices.filter(decision=OuterRef("pk"), pack=pack.id).exclude(state=Notice.State.WITHDRAWN)
    return rows.exclude(Exists(standing))


def overdue(rows: QuerySet[Notice]) -> QuerySet[Notice]:
    """Those that should have reached the person by now."""
    return rows.filter(state__in=Notice.UNSENT, due_at__lt=timezone.now())


def at_risk(rows: QuerySet[Notice], days: int) -> QuerySet[Notice]:
    """Those that are not late yet, but have this many days left or fewer."""
    now = timezone.now()
    return rows.filter(state__in=Notice.UNSENT, due_at__gte=now, due_at__lte=now + timedelta(days=days))


@dataclass(frozen=True, slots=True)
class Attention:
    """What an organization should look at: notices that are late or soon will be, and requests for review whose
    people should know the outcome by now or soon."""

    overdue: QuerySet[Notice]
    at_risk: QuerySet[Notice]
    requests: QuerySet[ReviewRequest]

    @property
    def anything(self) -> bool:
        return self.overdue.exists() or self.at_risk.exists() or self.requests.exists()


def attention(organization_id: uuid.UUID) -> Attention:
    """What of this organization is late or at risk, by its own idea of how many days that is."""
    days = settings_of(organization_id).at_risk_days
    rows = Notice.objects.for_organization(organization_id)
    due = unfinished_requests(organization_id).filter(due_at__lte=timezone.now() + timedelta(days=days))
    return Attention(overdue(rows), at_risk(rows, days), due.with_answer().select_related("notice"))


def notice(organization_id: uuid.UUID, notice_id: str) -> Notice:
    """One notice of the organization, with what a letter and a checklist need.

    Raises:
        Disposed: it was disposed of, with what it is about.
        NotFound: there is no notice of this id.
    """
    try:
        found = _complete(Notice.with_disposed.for_organization(organization_id)).get(pk=notice_id)
    except (Notice.DoesNotExist, ValidationError):
        raise NotFound("There is no notice of this id in your organization.") from None
    if found.disposed_at:
        raise Disposed(found.disposal)
    return found


def published(address: str) -> Notice:
    """The notice behind a letter's short address, once it is approved and in custody, also if it is disposed of by now.
    Raises NotFound.

    After the restore of an older database custody may hold a letter whose approval is forgotten: `OtherWordsSealed`.
    """
    notices = _complete(Notice.with_disposed.unscoped("whoever has the address has the letter"))
    if not address.isalnum():  # a NUL cannot be asked of PostgreSQL
        raise NotFound
    notice = db.only(notices.filter(address=address, approval__isnull=False, sealed__isnull=False))
    if notice is None:
        raise NotFound
    return notice


def _complete(notices: NoticeQuerySet) -> NoticeQuerySet:
    """With what a letter and a checklist need. What most notices lack comes in statements of its own: PostgreSQL plans
    one join of all these tables for longer than it runs all of them."""
    notices = notices.select_related("organization", "decision__record", "approval", "sealed")
    return notices.prefetch_related("approval__revision", "sealed__record", "holder__user")


def review_requests(organization_id: uuid.UUID, query: ReviewRequestQuery) -> QuerySet[ReviewRequest]:
    """The organization's requests for review, with their answers."""
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
    """The organization's requests that somebody still has to look at, or whose outcome the person is to be told."""
    return ReviewRequest.objects.for_organization(organization_id).unfinished()


def review_request(organization_id: uuid.UUID, request_id: int) -> ReviewRequest:
    """One request of the organization, with its answer. Raises NotFound for any other id."""
    rows = ReviewRequest.objects.for_organization(organization_id).filter(pk=request_id)
    request = rows.with_answer().select_related("notice__decision").first()
    if request is None:
        raise NotFound("There is no review request of this id in your organization.")
    return request


def delivery(notice: Notice, delivery_id: int) -> Delivery:
    """One delivery of a notice. Raises NotFound for any other id."""
    row = db.only(notice.deliveries.filter(pk=delivery_id))
    if row is None:
        raise NotFound("This notice has no delivery of this id.")
    return row


def authority_grant(organization_id: uuid.UUID, grant_id: int) -> AuthorityGrant:
    """One grant of the organization, with whose it is. Raises NotFound for any other id."""
    rows = AuthorityGrant.objects.for_organization(organization_id).select_related("user")
    grant = db.only(rows.filter(pk=grant_id))
    if grant is None:
        raise NotFound("There is no authority grant of this id in your organization.")
    return grant


def request_deadlines(
    request: ReviewRequest, purposes: tuple[Purpose, ...] = ("answer", "acknowledgement")
) -> list[deadlines.Deadline]:
    """Until when the person who asked must have an answer, and word that the request came in; each soonest first.

    Args:
        purposes: which of the two.

    Raises:
        Fault: the record cannot be read.
    """
    notice = request.notice
    pack, facts = pack_of(notice), facts_of(notice.decision)
    times = {"received_at": notice.decision.received_at, "requested_at": request.received_at}
    return [deadline for what in purposes for deadline in deadlines.compute(pack, facts, what=what, **times)]


def letter(notice: Notice) -> Letter:
    """The letter of a notice: as it was approved, else as a draft that says so.

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
        # Notices of before the contact was sealed with them have today's.
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
    """What was sealed when the notice was approved. Raises Fault if it cannot be read."""
    sealed: dict[str, Any] = strict_json.read(custody.opened(notice.sealed.record).payload)
    if (sealed["notice_id"], sealed["about"]["record_id"]) != (str(notice.pk), str(notice.decision_id)):
        raise Damaged(because="the row of the sealed notice points to another notice's record")
    return sealed


def approved_on(sealed: dict[str, Any]) -> date:
    """The day of the approval, by what was sealed."""
    return datetime.fromisoformat(sealed["letter"]["approved_at"]).date()


def locale_of(notice: Notice) -> str:
    """The region by whose customs a notice's dates are written, as in `en_GB`; "" is the language's default."""
    return pack_of(notice).locales.get(notice.language, "")


def public_address(notice: Notice) -> str:
    """The page that a letter's QR code leads to."""
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
