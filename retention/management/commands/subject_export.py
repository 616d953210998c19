from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize

from accounts import callers, selectors
from config import secret_files
from config.progress import progress
from custody.record_types import Families
from retention import services, subjects

MACHINE, READABLE = "subject.json", "subject.html"


class Command(BaseCommand):
    help = (
        "Collect all records about a person, by their reference in records or notices, into subject.json and "
        "subject.html. Only you can read these files, and existing ones are never replaced. They say how long each "
        "decision is kept, and why. Exits 1 if a record could not be read; both files name it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reference", required=True, help="the person's reference, exactly as records spell it")
        parser.add_argument(
            "--output", required=True, type=Path, metavar="DIRECTORY", help="created if it does not exist"
        )
        parser.add_argument("--organization", metavar="SLUG", help="optional while there is only one")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.find_organization(options["organization"])
        reference, directory = options["reference"], options["output"]
        roots = subjects.roots_about(organization.pk, reference)
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_new(directory)
            with (
                progress("Collecting decisions", len(roots)) as advance,
                secret_files.creating(directory / MACHINE) as machine,
                secret_files.creating(directory / READABLE) as readable,
            ):
                made = services.export_subject(
                    caller=callers.command_line(organization.pk),
                    reference=reference,
                    machine=machine,
                    readable=readable,
                    done=advance,
                )
        except OSError as error:
            raise CommandError(f"Cannot write {error.filename}: {error.strerror}.") from None
        count = f"{made.families:,} decision{pluralize(made.families)}, with all that belongs to them"
        self.stdout.write(f"{count}: {directory / MACHINE} and {directory / READABLE}.")
        if others := subjects.about_others(Families(organization.pk, roots), reference):
            self.stdout.write(f"Records that name another person: {others}. Check them before you hand this over.")
        if made.missing:
            raise CommandError(f"Records that could not be read: {len(made.missing)}. Both files name them.")


def _require_new(directory: Path) -> None:
    for name in (MACHINE, READABLE):
        if (directory / name).exists():
            raise CommandError(f"{directory / name} exists already. Name another directory.")
