from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from config.progress import progress
from custody import services
from custody.services import Move
from custody.vaults import storage_targets


class Command(BaseCommand):
    help = (
        "Copy every record of an organization to the storage that it uses now, read each copy back, and only then read "
        "it from there. Goes on where it was stopped. Deletes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization(options["organization"])
        target = storage_targets.current(organization.pk)
        total = services.not_at(target.pk, organization.pk).count()
        counts: Counter[Move] = Counter()
        with progress("Moving records", total) as advance:
            for record_id, move in services.move_records(caller=callers.command_line(organization.pk)):
                counts[move] += 1
                advance(1)
                if move is not Move.MOVED:
                    self.stdout.write(f"{record_id} {move.value}")
        self.stdout.write(f"{counts[Move.MOVED]} moved to {target.get_provider_display()}, target {target.pk}")
        if counts[Move.MOVED]:
            self.stdout.write("Nothing was deleted: the earlier objects remain at their old place.")
        left = counts.total() - counts[Move.MOVED] - counts[Move.GONE]
        if left:
            raise CommandError(f"{left} could not be moved. They are read at their old place as before.")
