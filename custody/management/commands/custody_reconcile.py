from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Organization
from custody import services


class Command(BaseCommand):
    help = (
        "Finish records that a crash or an outage left reserved; with --adopt, also bring back rows the vault proves."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="walk the whole vault for objects without a row, as after the restore of an older database",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        finished, remaining = services.reconcile()
        self.stdout.write(f"{finished} finished, {remaining} waiting for their vault")
        if options["adopt"]:
            adopted = sum(services.adopt_orphans(organization) for organization in Organization.objects.iterator())
            self.stdout.write(f"{adopted} adopted from the vault")
        if remaining:
            raise CommandError("The vault does not answer; run this again when it does.")
