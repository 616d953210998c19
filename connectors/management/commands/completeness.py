import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from pydantic import TypeAdapter, ValidationError

from accounts import selectors
from config.http import strict_json
from config.http.strict_json import InvalidJSON
from config.http.timestamps import Moment
from config.progress import progress
from connectors import completeness

_MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)
_MAX_SHOWN = 50


class Command(BaseCommand):
    help = (
        "Compare the decision ids that a source holds for a period, one a line, plain or as JSON texts, with what "
        "is in custody. Exits 1 if any is missing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ids", metavar="IDS.txt|-")
        parser.add_argument("--system", required=True, help="the records' system.name")
        parser.add_argument("--from", dest="begin", required=True, metavar="TIME", help="RFC 3339, with an offset")
        parser.add_argument("--to", dest="end", required=True, metavar="TIME", help="RFC 3339; outside the period")
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.find_organization(options["organization"])
        begin, end = _moment(options["begin"]), _moment(options["end"])
        path = options["ids"]
        try:
            with (
                nullcontext(sys.stdin) if path == "-" else open(path, encoding="utf-8") as lines,
                progress("Comparing ids", None) as advance,
            ):
                report = completeness.compare(
                    organization_id=organization.pk,
                    system=options["system"],
                    begin=begin,
                    end=end,
                    ids=_ids(lines, advance),
                )
        except UnicodeDecodeError:
            raise CommandError(f"{path} is not UTF-8.") from None
        except OSError as error:
            raise CommandError(f"Cannot read {path}: {error.strerror}.") from None
        self._show(report)

    def _show(self, report: completeness.Completeness) -> None:
        write = self.stdout.write
        write(f"{100 * report.share:.4f} % complete: {report.present} of {report.expected} are here")
        for title, ids, count in (
            ("missing here", report.missing, report.missing_count),
            ("unknown to the source", report.unknown, report.unknown_count),
        ):
            write(f"{count} {title}")
            for decision_id in ids[:_MAX_SHOWN]:
                write(f"  {decision_id}")
            if count > _MAX_SHOWN:
                write(f"  and {count - _MAX_SHOWN} more")
        if report.missing_count:
            raise CommandError("Some decisions are missing.")


def _ids(lines: Iterable[str], advance: Any) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        advance(1)
        if "\0" in line:
            raise CommandError(f"Line {number} is not a decision_id: it contains a NUL.")
        if decision_id := _id(line.rstrip("\r\n"), number):
            yield decision_id


def _id(line: str, number: int) -> str:
    """Return the decision_id of a line, which may be plain or a JSON text."""
    text = line.strip()
    if len(text) < 2 or not (text[0] == text[-1] == '"'):
        return line
    try:
        return str(strict_json.read(text.encode(), nul=False))
    except InvalidJSON:
        raise CommandError(f"Line {number} is in quotes, but is not a JSON text.") from None


def _moment(text: str) -> datetime:
    try:
        return _MOMENT.validate_python(text)
    except ValidationError:
        raise CommandError(f"{text} is not a time: write it as 2026-01-31T00:00:00Z.") from None
