from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from config.errors import DomainError
from custody import services


class Command(BaseCommand):
    help = (
        "After a restore: repeat the disposals that the journal has since the backup. The service does so by itself, "
        "too, and is not ready until then."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        again = 0
        try:
            for records in services.replay():
                again += records
        except DomainError as error:
            raise CommandError(f"{error.sentence} {_records(again)} disposed of again so far.") from None
        if options["verbosity"]:
            self.stdout.write(f"{_records(again)} disposed of again." if again else "No disposal to repeat.")


def _records(count: int) -> str:
    return f"{count:,} record{pluralize(count)}"
