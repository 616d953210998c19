import sys
from collections import Counter
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from accounts.models import Organization
from config.http.json_responses import dump
from config.progress import progress
from custody.services import TAKEN, Status
from decisions import presenters, services


class Command(BaseCommand):
    help = (
        "Ingest records from a file of NDJSON, or from standard input. Lines that are not taken are listed on standard "
        "error; running the same file again is safe. Exits 1 if any line was refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE|-")
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = _organization(options["organization"])
        if options["file"] == "-":
            counts = self._ingest(organization, sys.stdin.buffer, None)
        else:
            try:
                with open(options["file"], "rb") as file:
                    total = sum(1 for _ in file)
                    file.seek(0)
                    counts = self._ingest(organization, file, total)
            except OSError as error:
                raise CommandError(f"Cannot read {options['file']}: {error.strerror}.") from None
        self.stdout.write(", ".join(f"{count} {status}" for status, count in sorted(counts.items())) or "no records")
        if set(counts) - {*TAKEN, Status.DISPOSED}:
            raise CommandError("Some lines were not taken; they are listed above. Fix them and run this again.")

    def _ingest(self, organization: Organization, file: IO[bytes], total: int | None) -> Counter[str]:
        counts: Counter[str] = Counter()
        with progress("Ingesting records", total) as advance:
            caller = callers.command_line(organization.id)
            for line in services.ingest_lines(caller=caller, lines=file, source="command"):
                counts[line.status] += 1
                advance(1)
                if line.status not in TAKEN:
                    self.stderr.write(dump(presenters.line(line)).decode())
        return counts


def _organization(slug: str | None) -> Organization:
    if slug:
        return selectors.organization(slug)
    try:
        return Organization.objects.get()
    except Organization.DoesNotExist:
        raise CommandError("There is no organization yet. Make one with create_organization.") from None
    except Organization.MultipleObjectsReturned:
        raise CommandError("There are several organizations: name one with --organization SLUG.") from None
