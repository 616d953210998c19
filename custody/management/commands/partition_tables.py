from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from custody.rows import partitions


class Command(BaseCommand):
    help = "Give the tables that grow with every record hash partitions by record id, in a new PostgreSQL database."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("parts", type=int, metavar="N", help=f"how many: 2 to {partitions.MAX_PARTITIONS}")

    def handle(self, *args: Any, **options: Any) -> None:
        for table in partitions.partition_tables(parts=options["parts"]):
            if options["verbosity"]:
                self.stdout.write(f"{table}: {options['parts']} partitions")
