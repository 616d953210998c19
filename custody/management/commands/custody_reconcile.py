import uuid
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organization
from config.progress import progress
from custody import services
from custody.services import Found, fsck


class Command(BaseCommand):
    help = (
        "Finish records that a crash or an outage left reserved, and look for stored ones that their vault lacks; with "
        "--from, put those back; with --adopt, also bring back rows the vault proves."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="walk the whole vault for objects without a row, as after the restore of an older database",
        )
        parser.add_argument(
            "--from",
            dest="stray",
            metavar="DIRECTORY",
            type=Path,
            help="a directory with objects of this vault, such as the folder written to while the disk was not mounted",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        finished, remaining = services.reconcile(retry_now=True)
        self.stdout.write(f"{finished} finished, {remaining} waiting for their vault")
        self.refused = 0
        is_listed = not options["adopt"] or self._adopt()
        missing = self._repair(options["stray"])
        if remaining:
            raise CommandError("The vault does not answer; run this again when it does.")
        if not is_listed:
            raise CommandError("Not all storage was listed; run this again when it answers.")
        if missing:
            raise CommandError(
                "Records are missing from their vault. If another disk has them, run this again with --from and its "
                "directory; else restore the vault from a backup."
            )

        if self.refused:
            raise CommandError("Not all objects could be adopted: docs/operations.md says what to do about each cause.")
        if fsck.damage().exists():
            raise CommandError("A check has found damage: manage.py custody_fsck names it.")

    def _adopt(self) -> bool:
        """Adopt objects of every organization. Return whether all storage answered."""
        adopted, is_listed = 0, True
        for organization in Organization.objects.iterator():
            try:
                adopted += services.adopt_orphans(organization, refused=self._name_refused)
            except services.NotListed as error:
                adopted, is_listed = adopted + error.adopted, False
                self.stdout.write(f"{organization.slug}: not listed: {error}")
        self.stdout.write(f"{adopted} adopted from the vault")
        return is_listed

    def _name_refused(self, record_id: uuid.UUID, reason: str) -> None:
        self.refused += 1
        self.stdout.write(f"not adopted: {record_id}: {reason}")

    def _repair(self, stray: Path | None) -> int:
        """Repair the vaults, and return how many records are still missing."""
        if stray and not stray.is_dir():
            raise CommandError(f"{stray} is no directory.")
        total = services.stored_records().count()
        if not total:
            return 0
        counts: Counter[Found] = Counter()
        with progress("Looking for records in their vault", total) as advance:
            for record_id, presence in services.repair_vaults(stray=stray):
                counts[presence] += 1
                advance(1)
                if presence is Found.MISSING:
                    self.stdout.write(f"{record_id} is missing from its vault")
        if counts[Found.REPAIRED]:
            self.stdout.write(f"{counts[Found.REPAIRED]} put back into their vault")
        return counts[Found.MISSING]
