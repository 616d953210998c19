import re
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import MaxLengthValidator, validate_email
from django.utils.text import slugify

from accounts import audit, services


class Command(BaseCommand):
    help = "Create an organization and its owner."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--owner", required=True, metavar="EMAIL")
        parser.add_argument("--slug", default="", help="made from the name if left out")

    def handle(self, *args: Any, **options: Any) -> None:
        name, slug = options["name"].strip(), options["slug"] or slugify(options["name"])[:50]
        if not 0 < len(name) <= 200:
            raise CommandError("The name takes 1 to 200 characters.")
        try:
            validate_email(options["owner"])
            MaxLengthValidator(254)(options["owner"])
        except ValidationError:
            raise CommandError("--owner takes an email address.") from None
        if not re.fullmatch(r"[-a-zA-Z0-9_]{1,50}", slug):
            raise CommandError("--slug takes 1 to 50 letters, digits, - and _; give one if the name has none.")
        organization = services.create_organization(
            name=name, owner_email=options["owner"], slug=slug, actor=audit.COMMAND_LINE
        )
        self.stdout.write(organization.slug)
