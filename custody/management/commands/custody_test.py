from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from config.progress import progress
from custody import clouds, services
from custody.clouds import proving
from custody.management import config_argument


class Command(BaseCommand):
    help = "Test a customer's bucket and keys in their own account. Changes nothing there. Exits 1 if a check fails."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--provider", required=True, choices=clouds.PROVIDERS)
        config_argument.add(parser, help="such as bucket=records")
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")

    def handle(self, *args: Any, **options: Any) -> None:
        organization, provider = selectors.find_organization(options["organization"]), options["provider"]
        with progress("Checks", 1 + len(proving.questions(provider))) as advance:
            tested = services.run_custody_test(
                caller=callers.command_line(organization.pk),
                provider=provider,
                config=config_argument.given(options),
                done=advance,
            )
        for check in tested.checks:
            call = f" ({check.call}, {check.latency_ms} ms)" if check.latency_ms else ""
            self.stdout.write(f"{check.status:8}{check.id}{call}: {check.detail}")
            if check.fix:
                self.stdout.write(f"{'':8}-> {check.fix}")
        if tested.not_proven:
            self.stdout.write(f"Not proven: {', '.join(tested.not_proven)}.")
        if not tested.ok:
            raise CommandError(f"The test failed. {tested.effect}")
        self.stdout.write(f"The test succeeded. {tested.effect}")
