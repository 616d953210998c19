import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import selectors as accounts
from custody import selectors
from custody.sealing import verifier


class Command(BaseCommand):
    help = (
        "Check receipts against the organization's public keys, as custody/sealing/verifier.py does offline. "
        "Exits 1 if a check fails, 2 if a file cannot be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        receipt_help = "a receipt, as GET /v1/decisions/{decision_id}/receipt answers it"
        parser.add_argument("file", type=Path, nargs="+", help=receipt_help)
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")
        record_help = "the bytes that ought to be the record: one for each receipt, in the same order"
        parser.add_argument("--record", type=Path, metavar="FILE", action="append", default=[], help=record_help)
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = accounts.find_organization(options["organization"])
        key_list = json.dumps({"items": selectors.public_keys(organization.pk)}).encode()
        try:
            reports = verifier.verify_files(options["file"], [], options["record"], lists=[key_list])
        except (OSError, ValueError) as error:
            raise CommandError(verifier.reading_error(error), returncode=2) from None
        holds, lines = verifier.summary(reports, as_json=options["json"])
        self.stdout.write("\n".join(lines))
        if not holds:
            raise CommandError("The receipt does not hold." if len(reports) == 1 else "Not all receipts hold.")
