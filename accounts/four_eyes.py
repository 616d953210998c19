"""Guards of four eyes: settings that only an owner changes, and that loosen a day after an owner asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.utils import timezone

LOOSENING_DELAY = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Loosening:
    """A loosening that waits: `guard` becomes `to` at `takes_effect_at`, unless an owner cancels it before."""

    guard: str
    to: Any
    asked_by: str
    takes_effect_at: datetime


class Guarded(models.Model):
    """Settings with guards among them.

    A column keeps the strict value until the loosening in `loosenings` takes effect. So a reader calls `settled` first,
    and no task has to run in time.
    """

    GUARDS: ClassVar[Mapping[str, str]]
    """Wording of each guard for people."""

    loosenings = models.JSONField(default=dict, editable=False, help_text="Guards that will loosen: to what, and when.")

    class Meta:
        abstract = True

    def loosens(self, guard: str, to: Any) -> bool:
        """Whether a value is less strict than the present one."""
        return bool(getattr(self, guard)) and not to

    def is_owners_alone(self, guard: str) -> bool:
        """Whether tightening the guard, too, takes an owner."""
        return True

    def settled(self) -> Self:
        """Apply the loosenings whose time has come, without saving them. Return the row itself."""
        now = timezone.now()
        for loosening in self.waiting():
            if loosening.takes_effect_at <= now:
                setattr(self, loosening.guard, loosening.to)
                del self.loosenings[loosening.guard]
        return self

    def waiting(self) -> list[Loosening]:
        """Return the loosenings that wait, by name of the guard."""
        return [
            Loosening(guard, entry["to"], entry["asked_by"], datetime.fromisoformat(entry["takes_effect_at"]))
            for guard, entry in sorted(self.loosenings.items())
        ]
