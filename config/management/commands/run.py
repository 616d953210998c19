from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from config.management.commands.serve import follow_port


class Command(BaseCommand):
    help = "Migrate the installation, add demo data if it is empty, and serve it: `make run`."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        follow_port(options["port"])
        # In one process, because importing the service takes longer than most of these commands.
        call_command("migrate", verbosity=0)
        call_command("keys_import")
        call_command("custody_create_vault", verbosity=0)
        call_command("demo")
        self.stdout.flush()  # the next command does not return
        call_command("serve", port=options["port"])
