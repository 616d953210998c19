from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser


class Command(BaseCommand):
    help = "Bring the installation up to date, fill it for a first look if it is empty, and serve it: `make run`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        # In one process, for each would begin with importing the service, which takes longer than most of them.
        call_command("migrate", verbosity=0)
        call_command("keys_import")
        call_command("custody_create_vault", verbosity=0)
        call_command("demo")
        self.stdout.flush()  # somebody waits for it, and what follows does not end
        call_command("serve", port=options["port"])
