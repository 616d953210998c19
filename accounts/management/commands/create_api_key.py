from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts import callers, selectors, services
from accounts.roles import Role

_MAX_DAYS = 36500


class Command(BaseCommand):
    help = "Create an API key and print it, alone, on standard output. It cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True)
        parser.add_argument("--role", choices=[role.value for role in Role], default=Role.EDITOR.value)
        parser.add_argument("--expires-in-days", type=int, metavar="DAYS", help="never, if left out")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization(options["organization"])
        days = options["expires_in_days"]
        if days is not None and not 1 <= days <= _MAX_DAYS:
            raise CommandError(f"--expires-in-days takes 1 to {_MAX_DAYS} days.")
        _, token = services.create_api_key(
            caller=callers.command_line(organization.id),
            name=options["name"],
            role=Role(options["role"]),
            expires_at=timezone.now() + timedelta(days=days) if days is not None else None,
        )
        self.stdout.write(token)
