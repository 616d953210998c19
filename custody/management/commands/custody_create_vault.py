from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from custody import services, vaults
from custody.models import Entry


class Command(BaseCommand):
    help = "Make the root of the filesystem vault and its marker, without which nothing is put into it or read from it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--force",
            action="store_true",
            help="also where another vault, or not all of this one, seems to be in its place",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        used = settings.CUSTODY_VAULT in vaults.external() or Entry.objects.filter(vault__in=vaults.external()).exists()
        if not used:
            return self._say("The database vault needs no root.", options)
        made = services.mark_vault(force=options["force"])
        self._say(f"The vault is {made}." if made else "The vault is in place already.", options)

    def _say(self, sentence: str, options: dict[str, Any]) -> None:
        if options["verbosity"]:
            self.stdout.write(sentence)
