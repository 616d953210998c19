from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from custody import services, vaults
from custody.models import Entry

_ADVICE = (
    "Mount the right disk. If this is it, and those records are elsewhere, run this again with --force, and then "
    "custody_reconcile --from DIRECTORY."
)


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
        try:
            made = services.mark_vault(force=options["force"])
        except services.NotThisVault as reason:
            raise CommandError(f"This does not look like the vault: {reason} {_ADVICE}") from None
        except (OSError, vaults.VaultUnavailable) as error:
            raise CommandError(f"The vault cannot be made: {error}") from error
        self._say(f"The vault is {made}." if made else "The vault is in place already.", options)

    def _say(self, sentence: str, options: dict[str, Any]) -> None:
        if options["verbosity"]:
            self.stdout.write(sentence)
