from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.template.defaultfilters import pluralize
from django.utils import timezone

from accounts import callers, selectors
from accounts.models import Organization
from config.errors import DomainError
from config.progress import progress
from custody.disposal import journal
from retention import rules, services
from retention.models import Policy, Run
from retention.rules import Reason

_KEPT = {
    Reason.FLOOR: "Kept longer by a law",
    Reason.HOLD: "Kept by a hold",
    Reason.OBSTACLE: "Kept because something is unfinished",
}


class Command(BaseCommand):
    help = (
        "Dispose of an organization's decisions whose retention period is over, with their reviews, notices and "
        "letters. Counts them and asks first. Resumes a stopped run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="count the due decisions, and change nothing")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.organization(options["organization"])
        try:
            policy = rules.policy_in_force(organization.pk, daily=False)
            if policy is None:
                raise services.NoPolicy
            counts = self._count(organization, policy)
            if options["dry_run"] or not counts[Reason.DUE]:
                return
            if not options["yes"]:
                _ask(counts[Reason.DUE], organization)
            self._run(organization, policy, counts.total())
        except DomainError as error:
            raise CommandError(error.sentence) from None

    def _count(self, organization: Organization, policy: Policy) -> Counter[Reason]:
        counts: Counter[Reason] = Counter()
        with progress("Looking", None) as advance:
            for verdicts in rules.verdicts(organization.pk, policy, timezone.now()):
                counts.update(verdict.reason for verdict in verdicts.values())
                advance(len(verdicts))
        self.stdout.write(f"Policy {policy.number} of {organization.name}: {policy.days} day{pluralize(policy.days)}.")
        self.stdout.write(f"Due, with all that belongs to them: {_decisions(counts[Reason.DUE])}.")
        for reason, sentence in _KEPT.items():
            if counts[reason]:
                self.stdout.write(f"{sentence}: {_decisions(counts[reason])}.")
        if not journal.is_kept(organization.pk):
            self.stdout.write("There is no journal: a restored backup brings back records disposed of since.")
        return counts

    def _run(self, organization: Organization, policy: Policy, total: int) -> None:
        disposed = unfinished = 0
        caller = callers.command_line(organization.pk)
        steps = services.dispose_of_due(caller=caller, kind=Run.Kind.COMMAND, shown=policy)
        with progress("Disposing", total) as advance:
            for step in steps:
                disposed, unfinished = disposed + step.disposed, unfinished + step.unfinished
                advance(step.considered)
        self.stdout.write(f"{_decisions(disposed)} disposed of.")
        if unfinished:
            raise CommandError(
                f"{unfinished:,} record{pluralize(unfinished)} could not be removed everywhere yet, "
                "because a storage or the journal did not answer. They are unreadable already, and the service retries "
                "by itself. The page of disposals has the reason."
            )


def _decisions(count: int) -> str:
    return f"{count:,} decision{pluralize(count)}"


def _ask(due: int, organization: Organization) -> None:
    """Raise CommandError unless the person at the terminal types yes."""
    try:
        answer = input(f"Dispose of {_decisions(due)} of {organization.name} for good? Type yes: ")
    except EOFError:
        raise CommandError(
            "No one answered, so nothing was disposed of. Pass --yes to run without a question."
        ) from None
    if answer.strip().lower() != "yes":
        raise CommandError("Nothing was disposed of.")
