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
        found: Counter[Move] = Counter()
        with progress("Moving records", total) as advance:
            for record_id, each in services.move_records(caller=callers.command_line(organization.pk)):
                found[each] += 1
                advance(1)
                if each is not Move.MOVED:
                    self.stdout.write(f"{record_id} {each.value}")
        self.stdout.write(f"{found[Move.MOVED]} moved to {target.get_provider_display()}, target {target.pk}")
        if found[Move.MOVED]:
            self.stdout.write("Nothing was deleted: the earlier objects remain at their old place.")
        left = found.total() - found[Move.MOVED] - found[Move.GONE]
        if left:
            raise CommandError(f"{left} could not be moved. They are read at their old place as before.")
