from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email, validate_slug

from accounts import audit, services


class Command(BaseCommand):
    help = "Create an organization and its owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, metavar="EMAIL")
        parser.add_argument("--slug", default="", help="made from the name if left out")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            validate_email(options["owner"])
            if options["slug"]:
                validate_slug(options["slug"])
        except ValidationError as error:
            raise CommandError(f"{error.messages[0]} Check --owner and --slug.") from None
        try:
            organization = services.create_organization(
                name=options["name"],
                owner_email=options["owner"],
                slug=options["slug"],
                actor=audit.COMMAND_LINE,
            )
        except services.SlugTaken as error:
            raise CommandError(f"The slug {error} is taken. Choose another with --slug.") from None
        self.stdout.write(organization.slug)
