from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from notices import services
from notices.phrasebook_csv import COLUMNS, read_table


class Command(BaseCommand):
    help = (
        f"Add an organization's own words from a CSV file with the columns {', '.join(COLUMNS)}. A key is a reason "
        "code or a field's path; a phrase of the same key and language is replaced. All lines are taken, or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization(options["organization"])
        try:
            with open(options["file"], newline="", encoding="utf-8-sig") as file:
                phrases = read_table(file)
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"Cannot read {options['file']}: {error}.") from None
        count = services.put_phrases(caller=callers.command_line(organization.id), phrases=phrases)
        self.stdout.write(f"{count} phrases")
