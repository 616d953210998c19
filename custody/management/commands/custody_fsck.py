from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import audit_seals, selectors
from accounts.models import Organization
from config.progress import progress
from custody.inspection import Finding
from custody.inspection_models import Damage, Inspection
from custody.models import Entry
from custody.services import fsck

_RUNNER = Inspection.Runner.COMMAND
_MAX_LISTED = 100
"""Damaged items of an earlier run that are listed again."""


class Command(BaseCommand):
    help = (
        "Read, open and verify everything in custody: keys, records, receipts, notices, index rows, disposals, "
        "objects, the audit trail. Changes no record. Exits 1 if something is damaged, which it names, and 3 if "
        "nothing is, but a store did not answer."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", metavar="SLUG", help="this one alone, and nothing of the installation")
        parser.add_argument("--resume", action="store_true", help="go on where the last run was stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        only = selectors.organization(options["organization"]) if options["organization"] else None
        if not options["resume"]:
            everything = [None, *Organization.objects.order_by("pk").values_list("pk", flat=True)]
            fsck.begin(_RUNNER, [only.pk] if only else everything)
        rows = fsck.unfinished(_RUNNER).select_related("organization")
        rows = rows.filter(organization=only) if only else rows
        damaged = fsck.damage().filter(organization=only) if only else fsck.damage()
        if not rows.exists():
            self.stdout.write("The last run has ended. There is nothing to resume.")
            self._name([Finding(row.kind, row.name, row.reason) for row in damaged[:_MAX_LISTED]])
        entries = Entry.objects.unscoped("the total of all organizations is counted")
        total = (entries.filter(organization=only) if only else entries).count()
        self.unchecked = 0
        with progress("Checking custody", total) as advance:
            for row in rows:
                for step in fsck.inspect(row):
                    advance(step.records)
                    self._name(step.failed)
                self._summarize(row)
        self._conclude(damaged.count())

    def _name(self, failed: list[Finding]) -> None:
        for finding in failed:
            state = "damaged" if finding.is_checked else "not checked"
            self.stdout.write(f"{state}: {finding.kind} {finding.name}: {finding.problem}")

    def _summarize(self, row: Inspection) -> None:
        name = row.organization.slug if row.organization else "installation"
        damaged = Damage.objects.unscoped("of one check").filter(organization=row.organization).count()
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(row.counts).items()))
        if row.organization is None and (since := audit_seals.sealed_since()):
            counts += f"; audit trail sealed since {since:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(f"{name}: ok: {counts or 'none'}. {damaged} damaged, {row.unchecked} not checked.")
        self.unchecked += row.unchecked

    def _conclude(self, damaged: int) -> None:
        if damaged:
            raise CommandError(f"{damaged} damaged. Restore what is named from a backup, and run this again.")
        if self.unchecked:
            raise CommandError(f"{self.unchecked} not checked: a store or a key did not answer.", returncode=3)
        self.stdout.write("Everything in custody is as it was signed.")
