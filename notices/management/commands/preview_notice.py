import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import callers, selectors
from config.errors import DomainError, Invalid
from config.http import strict_json
from config.http.json_responses import dump
from config.http.strict_json import InvalidJSON
from decisions import records
from notices import presenters, services, warnings
from notices.packs import Pack, packs
from notices.previews import Preview
from notices.record_paths import Facts
from notices.selectors import settings_of

_RULE = "=" * 78


class Command(BaseCommand):
    help = (
        "Show the letter about a record that is not in custody, and what blocks its approval. Nothing is stored. The "
        "file holds one record, or one on each line. Exits 1 if a record is not acceptable."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE|-")
        parser.add_argument("--pack", choices=sorted(packs()), help="default: the organization's default pack")
        parser.add_argument("--language", help="one of the pack's; default: the person's in the record")
        parser.add_argument("--organization", metavar="SLUG", help="optional while there is only one")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="the whole answer of the API, a line for each record")
        form.add_argument("--html", action="store_true", help="only the letter, as a page")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.find_organization(options["organization"])
        pack = packs()[options["pack"] or settings_of(organization.pk).default_pack]
        language = _language(pack, options["language"])
        caller = callers.command_line(organization.pk)
        failures = 0
        for number, raw in enumerate(_records(options["file"]), start=1):
            try:
                records.acceptable(raw)
                preview = services.preview(caller=caller, facts=Facts(raw), pack=pack, language=language)
            except DomainError as error:
                failures += 1
                self.stderr.write(f"record {number}: {_sentence(error)}")
                continue
            self.stdout.write(_shown(preview, options))
        if failures:
            raise CommandError(f"No notice can be drafted about {failures} of these records; they are named above.")


def _language(pack: Pack, wish: str | None) -> str:
    if wish and not pack.has_language(wish):
        raise CommandError(f"The pack has these languages: {', '.join(pack.languages)}.")
    return wish or ""


def _records(source: str) -> Iterator[bytes]:
    """Yield the records of a file: its lines if the first is a whole JSON document, else the whole file."""
    if source == "-":
        yield from _divided(sys.stdin.buffer)
        return
    try:
        with open(source, "rb") as file:
            yield from _divided(file)
    except OSError as error:
        raise CommandError(f"Cannot read {source}: {error.strerror}.") from None


def _divided(file: Iterable[bytes]) -> Iterator[bytes]:
    lines = iter(file)
    first = next((line for line in lines if line.strip()), b"")
    try:
        strict_json.read(first)
    except InvalidJSON:
        yield b"".join(chain([first], lines))
    else:
        yield from (line.rstrip(b"\r\n") for line in chain([first], lines) if line.strip())


def _sentence(error: DomainError) -> str:
    """Say what was wrong, and where."""
    if not isinstance(error, Invalid):
        return error.sentence
    problems = (f"{'.'.join(map(str, row['loc'][1:])) or 'it'}: {row['msg']}" for row in error.problems)
    return "; ".join(problems) + "."


def _shown(preview: Preview, options: dict[str, Any]) -> str:
    if options["html"]:
        return str(presenters.preview(preview, "html")["letter"])
    answer = presenters.preview(preview, "text")
    if options["json"]:
        return dump(answer).decode()
    return "\n".join([_RULE, answer["decision_id"], _RULE, answer["letter"], *_checked(answer)])


def _checked(answer: dict[str, Any]) -> Iterator[str]:
    yield f"Pack {answer['pack']} {answer['pack_version']}, {answer['language']}"
    if answer["deadline"]:
        yield f"Due: {answer['deadline']['arithmetic']}"
    yield from _listed("Problems, which block approval", answer["problems"])
    yield from _listed(
        "Warnings, which the approver acknowledges",
        [warnings.ApprovalWarning(**warning).line for warning in answer["warnings"]],
    )
    untold = [f"{field['path']} ({field['kind']})" for field in answer["untold"]]
    yield from _listed("In the record's outcome, and told nowhere", untold)
    missing = [item for item in answer["elements"] if item["result"] == "missing" and not item["blocks"]]
    yield from _listed("Missing, and advised", [f"{item['label']} ({item['citation']})." for item in missing])


def _listed(heading: str, sentences: list[str]) -> Iterator[str]:
    yield f"{heading}: {len(sentences) or 'none'}"
    yield from (f"  - {sentence}" for sentence in sentences)
