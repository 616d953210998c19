from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from custody import clouds, services
from custody.keys.keyrings import Purpose
from custody.management import config_argument
from custody.models import Key


class Command(BaseCommand):
    help = (
        "Give an organization another signing or wrapping key. New records are made with it; old ones open and verify "
        "under theirs. The index key is never replaced, for record ids rest on it."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--purpose", required=True, choices=[purpose.value for purpose in services.ROTATABLE])
        parser.add_argument(
            "--provider",
            choices=[Key.Provider.LOCAL.value, *clouds.PROVIDERS],
            default=Key.Provider.LOCAL.value,
            help="who holds the key; without it, this service makes one",
        )
        config_argument.add(parser, help="how to reach the key, with kms_key to wrap or signing_key to sign")

    def handle(self, *args: Any, **options: Any) -> None:
        organization, config = selectors.organization(options["organization"]), config_argument.given(options)
        if config and options["provider"] == Key.Provider.LOCAL:
            raise CommandError(
                f"--config says how to reach a key in a cloud: name it with --provider {', '.join(clouds.PROVIDERS)}. "
                "Nothing was changed."
            )
        made = services.rotate_key(
            caller=callers.command_line(organization.pk),
            purpose=Purpose(options["purpose"]),
            provider=options["provider"],
            config=config,
        )
        self.stdout.write(f"{made.purpose} key {made.key_id}")
