from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from pydantic import ValidationError

from accounts import callers, selectors
from config.errors import DomainError
from config.progress import progress
from decisions.schemas import DecisionQuery
from decisions.selectors import decisions
from notices import services
from notices.packs import packs
from notices.selectors import without_notice

_FILTERS = sorted(set(DecisionQuery.model_fields) - {"limit", "cursor"})


class Command(BaseCommand):
    help = (
        "Draft a notice under a pack for every decision that matches the filters and has none under it yet. Run it "
        "again to resume after an interruption. Exits 1 if a record could not be read."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--pack", required=True, choices=sorted(packs()))
        parser.add_argument(
            "--filter",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"as in GET /v1/decisions, repeatable: {', '.join(_FILTERS)}",
        )
        parser.add_argument("--language", help="one of the pack's; default: the person's")
        parser.add_argument("--limit", type=_positive, help="maximum number of notices, oldest decisions first")
        parser.add_argument("--dry-run", action="store_true", help="only count the decisions")

    def handle(self, *args: Any, **options: Any) -> None:
        pack = packs()[options["pack"]]
        if options["language"] and options["language"] not in pack.languages:
            raise CommandError(f"The pack has these languages: {', '.join(pack.languages)}.")
        organization = selectors.organization(options["organization"])
        rows = without_notice(decisions(organization.id, _query(options["filter"])), pack).order_by("received_at", "pk")
        ids = list(rows.values_list("pk", flat=True)[: options["limit"]])
        if options["dry_run"]:
            self.stdout.write(f"{len(ids)} decisions would get a notice")
            return
        caller = callers.command_line(organization.id)
        failures = 0
        with progress("Drafting notices", len(ids)) as advance:
            for start in range(0, len(ids), 100):
                batch = rows.filter(pk__in=ids[start : start + 100]).select_related("record", "organization")
                for decision in batch:
                    advance(1)
                    try:
                        services.draft(
                            decision=decision,
                            pack=pack,
                            language=options["language"] or "",
                            recipient={"reference": decision.subject_reference} if decision.subject_reference else {},
                            caller=caller,
                        )
                    except DomainError as error:
                        failures += 1
                        self.stderr.write(f"{decision.decision_id}: {error.sentence}")
        self.stdout.write(f"{len(ids) - failures} notices drafted")
        if failures:
            raise CommandError(f"{failures} records could not be read; they are listed above.")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _query(filters: Iterable[str]) -> DecisionQuery:
    values: dict[str, str] = {}
    for text in filters:
        name, equals, value = text.partition("=")
        if name not in _FILTERS or not equals or name in values:
            raise CommandError(f"--filter {text}: give NAME=VALUE, each name once, of {', '.join(_FILTERS)}.")
        values[name] = value
    try:
        return DecisionQuery.model_validate({"kind": "decision"} | values)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors())
        raise CommandError(f"{wrong}.") from None
