"""Rows of an organization of a given size, written to the tables without sealing a record.

    notice = fill(organization, decisions=1_000_000, notices=50_000)

A second call adds rows, so one organization can be measured at several sizes.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import cycle
from operator import attrgetter
from typing import Any
from unittest.mock import patch

from django.db import connection, transaction
from django.db.models import Model
from django.utils import timezone

from accounts import callers
from accounts.models import AuditEvent, Member, Organization
from bench.subject import PLACEHOLDER, record
from config.progress import progress
from custody.keys.keyrings import Keyring, keyring
from custody.models import Entry, SealedObject, object_key
from custody.sealing import sealer
from decisions import records, review_records
from decisions.models import Decision
from decisions.services import ingest_lines
from notices import services
from notices.models import Approval, Delivery, Notice, NoticeRevision, ReviewRequest
from notices.packs import packs

_YEAR = timedelta(days=365)
_CHUNK, _BATCH = 20_000, 2_000
_STATES = ("draft", "draft", "draft", "in_review", "in_review", "approved", *["delivered"] * 13, "withdrawn")
_OFTEN, _SELDOM = 20, 5_000
"""One decision in 20 is a reconsideration. One in 5,000 has a rare action, system and source."""


def fill(organization: Organization, *, decisions: int, notices: int) -> Notice:
    """Add decisions, evenly over the past year, with their related rows; then update PostgreSQL's statistics.

    A decision has its custody rows, with an empty sealed object. One in twenty reconsiders another. Actions, systems,
    sources and subjects differ. There are notices in every state, most of them delivered, and some of the delivered
    have a request for review. There are three audit events for each notice.

    Args:
        organization: must have a member.
        notices: at most two for three decisions.

    Returns:
        A notice about a decision that is in custody, for pages that open records.
    """
    real = _real_notice(organization)
    begun = Decision.with_disposed.for_organization(organization).count()
    now, keys, about = timezone.now(), keyring(organization.pk), []
    with transaction.atomic(), progress("rows", decisions) as advance:
        for first in range(0, decisions, _CHUNK):
            numbers = range(first, min(first + _CHUNK, decisions))
            rows = [_decision(real.decision, keys, begun + n, now - _YEAR * (1 - n / decisions)) for n in numbers]
            _reconsider(rows)
            _copy([row.record for row in rows])
            _copy([SealedObject(key=object_key(organization.pk, row.pk), body=b"") for row in rows])
            for is_review in (False, True):  # reconsiderations refer to decisions, so decisions go first
                _copy([row for row in rows if bool(row.first_id) == is_review])
            firsts = [row for row in rows if not row.first_id]
            about += firsts[: notices * (first + len(rows)) // decisions - len(about)]
            advance(len(rows))
        _add_notices(real, about)
    if connection.vendor == "postgresql":  # SQLite keeps the statistics of config.planner_statistics
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")
    return real


def add_audit_events(notice: Notice, count: int) -> None:
    """Add audit events about a notice."""
    with transaction.atomic(), progress("audit events", count) as advance:
        for first in range(0, count, _CHUNK):
            numbers = range(first, min(first + _CHUNK, count))
            _create(_event(notice, number) for number in numbers)
            advance(len(numbers))


def _event(notice: Notice, number: int) -> AuditEvent:
    return AuditEvent(
        organization_id=notice.organization_id, verb=f"bench.{number % 30}", actor_kind="system", actor_label="bench",
        object_kind="notice", object_id=str(notice.pk),
    )  # fmt: skip


def _real_notice(organization: Organization) -> Notice:
    shell = callers.command_line(organization.pk)
    line = record().replace(PLACEHOLDER.encode(), b"real-1")
    list(ingest_lines(caller=shell, lines=[line], source="bench"))
    rows = Decision.objects.for_organization(organization).select_related("record", "organization")
    real = rows.get(decision_id="real-1")
    there = Notice.objects.for_organization(organization).filter(decision=real).first()
    return there or services.draft(decision=real, pack=packs()["us_ecoa_fcra"], recipient={}, caller=shell)


def _decision(like: Decision, keys: Keyring, number: int, received_at: datetime) -> Decision:
    decision_id = f"{('loan', 'claim', 'application')[number % 3]}-{number}"
    record_id = sealer.record_id(sealer.reference(keys, decision_id))  # so that a request by decision id finds it
    entry = Entry(
        record_id=record_id, organization_id=like.organization_id, kind=records.KIND, received_at=received_at,
        target_id=like.record.target_id, state=like.record.state, key_id=like.record.key_id,
        statement=like.record.statement, signature=like.record.signature,
    )  # fmt: skip
    seldom = number % _SELDOM == 0
    return Decision(
        record=entry, organization_id=like.organization_id, kind=records.KIND, received_at=received_at,
        source="directory" if seldom else ("api", "api", "api", "batch")[number % 4],
        decision_id=decision_id,
        decided_at=received_at - timedelta(minutes=number % 90) if number % 10 else None,
        action="referred" if seldom else ("denied", "approved", "approved", "")[number % 4],
        system_name="Old scorer" if seldom else f"System {number % 20}", system_version="3",
        subject_reference=f"person {number // 2}",
    )  # fmt: skip


def _reconsider(rows: Sequence[Decision]) -> None:
    for number in range(_OFTEN - 1, len(rows), _OFTEN):
        row = rows[number]
        row.first = row.reconsiders = rows[number - 5]
        row.kind = row.record.kind = review_records.KIND
        overturned = number % 3 == 0
        row.review_outcome, row.action = ("overturned", "approved") if overturned else ("upheld", "")
        row.reviewer, row.reviewer_authority = f"Reviewer {number % 9}", "credit officer"


def _add_notices(real: Notice, about: Sequence[Decision]) -> None:
    member = Member.objects.for_organization(real.organization_id).earliest("pk")
    revision, now = real.revisions.get(), timezone.now()
    kinds = zip(about, cycle(_STATES), cycle(sorted(packs())), strict=False)
    rows = [
        Notice(
            organization_id=real.organization_id, decision=decision, pack=pack, pack_version="1", state=state,
            language="en", problems=n % 3, holder=member if n % 50 == 0 and n < 2_000 else None, created_by="bench",
            due_at=decision.received_at + timedelta(days=360) if n % 4 else None, created_at=decision.received_at,
        )
        for n, (decision, state, pack) in enumerate(kinds)
    ]  # fmt: skip
    # An update of `created_at` would leave dead rows, which PostgreSQL reads.
    with patch.object(Notice._meta.get_field("created_at"), "auto_now_add", new=False):
        _create(rows)
    columns = {"content": revision.content, "cited": revision.cited, "author_kind": "system", "author_label": "bench"}
    revisions = [NoticeRevision(notice=notice, number=1, **columns) for notice in rows]
    _create(revisions)
    done = [revision for revision in revisions if revision.notice.state in Notice.FINISHED]
    _create(Approval(notice=r.notice, revision=r, approver="a", authority="owner", basis="signed in") for r in done)
    sent = [notice for notice in rows if notice.state == Notice.State.DELIVERED]
    sending: dict[str, Any] = {"channel": "post", "recorded_by": "bench", "handled_at": now}
    _create(Delivery(notice=notice, delivered_at=notice.decision.received_at, **sending) for notice in sent)
    _create(
        ReviewRequest(
            organization_id=real.organization_id, notice=notice, message="Please look again.",
            received_at=notice.decision.received_at, due_at=now + timedelta(days=30), handled_at=now,
            closed_at=None if n % 100 == 0 else now, closed_because="" if n % 100 == 0 else "withdrawn",
        )
        for n, notice in enumerate(sent[::25])
    )  # fmt: skip
    _create(_event(notice, n) for n, notice in enumerate(rows * 3))


def _create(rows: Iterable[Model]) -> None:
    """Insert rows into a table that assigns their ids."""
    instances = list(rows)
    if instances:
        type(instances[0])._default_manager.bulk_create(instances, _BATCH)


def _copy(rows: Sequence[Model]) -> None:
    """Insert rows with COPY or a prepared statement, several times as fast as `bulk_create`."""
    if not rows:
        return
    table, fields = rows[0]._meta.db_table, rows[0]._meta.concrete_fields
    columns, values = ", ".join(str(field.column) for field in fields), attrgetter(*(field.attname for field in fields))
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(values(row))
    else:
        prepare = [partial(field.get_db_prep_save, connection=connection) for field in fields]
        prepared = ([convert(value) for convert, value in zip(prepare, values(row), strict=True)] for row in rows)
        with connection.cursor() as cursor:
            places = ", ".join(["%s"] * len(fields))
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", prepared)
