from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import audit
from accounts.models import User
from accounts.services import second_factor


class Command(BaseCommand):
    help = "Forget a person's authenticator app, for example a lost phone. They enrol another at their next sign-in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email=options["email"].lower()).first()
        if user is None:
            raise CommandError(f"No account has the address {options['email']}.")
        second_factor.reset(user=user, actor=audit.COMMAND_LINE)
        self.stdout.write(f"{user.email} has no app enrolled now.")
