from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from custody import services
from custody.models import StorageTarget


class Command(BaseCommand):
    help = "Make the root of the filesystem vault and its marker, without which nothing is put into it or read from it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--provider",
            choices=[str(provider) for provider in StorageTarget.DEPLOYMENTS],
            help="let new records go to this vault from now on; CUSTODY_VAULT chooses only the first time",
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="also where another vault, or not all of this one, seems to be in its place",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():  # so that a vault whose root cannot be made is not chosen
            if options["provider"]:
                services.choose_target(provider=options["provider"])
            targets = services.targets_with_a_root()
            made = [services.mark_vault(target=target, force=options["force"]) for target in targets]
        for root in made:
            self._say(f"The vault is {root}." if root else "The vault is in place already.", options)
        if not targets:
            self._say("The database vault needs no root.", options)

    def _say(self, sentence: str, options: dict[str, Any]) -> None:
        if options["verbosity"]:
            self.stdout.write(sentence)
