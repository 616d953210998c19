"""Seals of the audit trail grow with their head, and removed seals are named and never replaced silently."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction

from accounts import audit, audit_seals, tasks
from accounts.models import AuditEvent, AuditSeal, AuditSealHead
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def grow(monkeypatch, organization) -> Callable[[int], int]:
    """Record so many events and seal them, two in a seal."""
    monkeypatch.setattr(audit_seals, "MAX_EVENTS", 2)

    def growing(events: int) -> int:
        for number in range(events):
            audit.record(
                "test.event",
                actor=audit.SYSTEM,
                organization_id=organization.pk,
                object_kind="test",
                object_id=number,
            )
        return audit_seals.seal_events(until=AuditEvent.objects.latest("pk").at.replace(year=2999))

    return growing


def problems() -> list[tuple[str, str]]:
    return [problem for _, problems_of_seal, _ in audit_seals.verified() for problem in problems_of_seal]


def test_honest_growth_over_many_seals_is_whole(grow):
    for events in (9, 1, 4):
        assert grow(events) >= events
        assert problems() == []
    head = AuditSealHead.objects.get()
    assert (head.seals, head.last) == (AuditSeal.objects.count(), AuditEvent.objects.latest("pk").pk)
    assert head.seals > 6
    assert audit_seals.sealed_since() == AuditSeal.objects.order_by("pk")[0].created_at


def newest_with_events() -> None:
    first = AuditSeal.objects.order_by("-last")[1].first
    AuditEvent.objects.filter(pk__gte=first)._raw_delete("default")
    AuditSeal.objects.filter(first__gte=first).delete()


def head_of_fewer_seals() -> None:
    newest = AuditSeal.objects.latest("last")
    AuditSealHead.objects.update(last=newest.first - 1)


HARM = {
    "all seals removed": (lambda: AuditSeal.objects.all().delete(), "seals were removed."),
    "the newest removed with their events": (newest_with_events, "The newest seals were removed."),
    "the head removed": (lambda: AuditSealHead.objects.all().delete(), "Their head was removed."),
    "a head of fewer seals": (head_of_fewer_seals, "Their head or the newest seal was changed."),
    "another count": (lambda: AuditSealHead.objects.update(seals=1), "Their head or the newest seal was changed."),
    "a forged head": (lambda: AuditSealHead.objects.update(mac="0" * 64), "Their head or the newest seal was changed."),
}


@pytest.mark.parametrize("name", HARM)
def test_seals_that_disagree_with_their_head_are_named_and_none_follows(grow, name, capfd):
    harm, expected = HARM[name]
    grow(6)
    with unguarded():
        harm()
    assert [problem for kind, problem in problems() if kind == "seals" and problem.endswith(expected)]
    before = list(AuditSeal.objects.values_list("pk", flat=True))
    with pytest.raises(audit_seals.SealsDisagree):
        grow(2)
    capfd.readouterr()
    tasks.seal_audit_trail()
    assert "".join(capfd.readouterr()).count("the audit trail is not sealed") == 1
    assert list(AuditSeal.objects.values_list("pk", flat=True)) == before


def test_a_seal_in_the_middle_that_was_removed_is_named(grow):
    grow(8)
    with unguarded():
        AuditSeal.objects.filter(pk=AuditSeal.objects.order_by("last")[1].pk).delete()
    assert len([name for name, _ in problems() if name == "seals"]) == 1


def test_a_trail_that_is_sealed_from_scratch_shows_its_late_date(grow):
    grow(3)
    first = audit_seals.sealed_since()
    with unguarded():
        AuditSeal.objects.all().delete()
        AuditSealHead.objects.all().delete()
    grow(1)
    assert problems() == []
    assert audit_seals.sealed_since() > first
    with unguarded():
        AuditSeal.objects.update(created_at=first)
    assert "seal was changed" in problems()[0][1]


def test_a_seal_is_never_without_its_head(grow, monkeypatch):
    grow(2)
    before = AuditSeal.objects.count(), AuditSealHead.objects.values().get()

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(audit_seals, "_advance", killed)
        with pytest.raises(KeyboardInterrupt):
            grow(2)
    assert (AuditSeal.objects.count(), AuditSealHead.objects.values().get()) == before
    assert grow(1) == 3


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM accounts_auditsealhead",
        "UPDATE accounts_auditsealhead SET mac = ''",
        "UPDATE accounts_auditsealhead SET last = last - 1, seals = seals - 1",
        "UPDATE accounts_auditsealhead SET last = last + 1, seals = seals + 2",
        "DELETE FROM accounts_auditseal",
        "UPDATE accounts_auditseal SET mac = ''",
    ],
)
def test_the_database_refuses_to_remove_or_turn_back_seals(grow, statement):
    grow(4)
    refused = pytest.raises(IntegrityError, match="neither removed nor changed")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
