import csv
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import audit, selectors
from accounts.models import Organization
from notices import services
from notices.models import Phrase

COLUMNS = ("language", "key", "sentence", "label", "withheld", "owner", "approved_version")


class Command(BaseCommand):
    help = (
        f"Add an organization's own words from a CSV file with the columns {', '.join(COLUMNS)}. A key is a reason "
        "code or a field's path; a phrase of the same key and language is replaced. All lines are taken, or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            organization = selectors.organization(options["organization"])
            with open(options["file"], newline="", encoding="utf-8-sig") as file:
                phrases = [_phrase(number, row) for number, row in enumerate(csv.DictReader(file), start=2)]
        except Organization.DoesNotExist:
            raise CommandError(f"There is no organization with the slug {options['organization']}.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"Cannot read {options['file']}: {error}.") from None
        count = services.put_phrases(organization_id=organization.id, phrases=phrases, actor=audit.COMMAND_LINE)
        self.stdout.write(f"{count} phrases")


def _phrase(number: int, row: dict[str, str]) -> Phrase:
    if set(row) != set(COLUMNS) or None in row.values():
        raise CommandError(f"Line {number}: the columns are {', '.join(COLUMNS)}.")
    if not row["language"] or not row["key"]:
        raise CommandError(f"Line {number}: language and key are needed.")
    if row["withheld"] not in ("", "yes", "no"):
        raise CommandError(f"Line {number}: withheld is yes, no or empty.")
    return Phrase(**row | {"withheld": row["withheld"] == "yes"})
