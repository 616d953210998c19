from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from notices import services
from notices.phrasebook_csv import COLUMNS, SHIPPED, read_table


class Command(BaseCommand):
    help = (
        f"Import an organization's phrases from a CSV file with the columns {', '.join(COLUMNS)}. A key is a reason "
        "code or a field's path; a phrase of the same key and language is replaced. Imports all lines, or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        shipped = ", ".join(sorted(path.stem for path in SHIPPED.glob("*.csv")))
        parser.add_argument("file", help=f"a CSV file, or the name of an included phrasebook: {shipped}")
        parser.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization(options["organization"])
        shipped = SHIPPED / f"{Path(options['file']).name}.csv"
        path = shipped if shipped.is_file() and not Path(options["file"]).exists() else options["file"]
        try:
            with open(path, newline="", encoding="utf-8-sig") as file:
                phrases = read_table(file)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"Cannot read {path}: {error}.") from None
        count = services.put_phrases(caller=callers.command_line(organization.id), phrases=phrases)
        self.stdout.write(f"{count} phrases")
