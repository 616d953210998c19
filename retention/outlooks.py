"""When the daily run may dispose of a family, though a shorter policy begins later than it is made."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from custody.record_types import Floor
from retention import rules
from retention.models import Policy
from retention.rules import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The earliest disposal by the daily run, without holds and obstacles.

    Attributes:
        policy: the version of the policy that disposes of the family.
        disposed_from: the earliest time.
        floor: the law that keeps the family longer than the policy.
        is_beginning: whether the family's days are over before the policy begins.
        is_over: whether the time is past.
    """

    policy: Policy
    disposed_from: datetime
    floor: Floor | None
    is_beginning: bool
    is_over: bool

    def __str__(self) -> str:
        """Return the outlook as a sentence."""
        return self._sentence() % {
            "day": f"{self.disposed_from.day} {self.disposed_from:%B %Y}",
            "policy": self.policy.number,
            "law": self.floor.citation if self.floor else "",
        }

    def _sentence(self) -> str:
        if self.is_beginning and self.policy.begins_at:
            return _("Kept until %(day)s, when policy %(policy)s begins.")
        if self.is_beginning:
            return _("Kept until policy %(policy)s begins, a week after owners get the email about it.")
        if self.floor:
            return (
                _("Past its retention period, which ended on %(day)s, as %(law)s requires.")
                if self.is_over
                else _("Kept until %(day)s, as %(law)s requires.")
            )
        return (
            _("Past its retention period, which ended on %(day)s, by policy %(policy)s.")
            if self.is_over
            else _("Kept until %(day)s, by policy %(policy)s.")
        )


def outlook(newest: Policy, verdict: Verdict, now: datetime) -> Outlook:
    """Return the outlook of a family.

    Args:
        newest: the current version of the policy.
        verdict: on the family, under the current version.
    """
    in_force = rules.in_force(newest, daily=True)
    outlooks = [_under(in_force, verdict, now, begins_at=None)] if in_force else []
    if in_force is None or in_force.number != newest.number:
        outlooks.append(_under(newest, verdict, now, begins_at=newest.begins_at or now + rules.NOTICE))
    return min(outlooks, key=lambda outlook: outlook.disposed_from)


def _under(policy: Policy, verdict: Verdict, now: datetime, *, begins_at: datetime | None) -> Outlook:
    floor = verdict.floor if verdict.floor and verdict.floor.days > policy.days else None
    ends = rules.days_after(verdict.counts_from, (floor or policy).days)
    is_beginning = begins_at is not None and begins_at > max(ends, now)
    return Outlook(
        policy=policy,
        disposed_from=begins_at if begins_at and is_beginning else ends,
        floor=floor,
        is_beginning=is_beginning,
        is_over=not is_beginning and ends <= now,
    )
