from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import selectors
from custody import verifier
from custody.models import Key


class Command(BaseCommand):
    help = (
        "Check a receipt against the organization's public keys, as custody/verifier.py does without the service. "
        "Exits 1 if a check fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a receipt, as GET /v1/decisions/{decision_id}/receipt answers it")
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")
        parser.add_argument("--record", type=Path, metavar="FILE", help="the bytes that ought to be the record")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization_meant(options["organization"])
        keys = Key.objects.for_organization(organization).filter(purpose=Key.Purpose.SIGNING)
        pems = [pem.encode() for pem in keys.values_list("public_pem", flat=True)]
        try:
            record = options["record"].read_bytes() if options["record"] else None
            report = verifier.verify(verifier.read_receipt(options["file"]), pems, record)
        except OSError as error:
            raise CommandError(f"Cannot read {error.filename}: {error.strerror}.") from None
        self.stdout.write("\n".join(report.lines()))
        if report.failed:
            raise CommandError("The receipt does not hold.")
