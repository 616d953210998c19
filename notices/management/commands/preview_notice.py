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
        "Show the letter about a record that is in no custody, and what stands in the way of its approval. Nothing is "
        "kept. The file holds one record, or one a line. Exits 1 if a record is not acceptable."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE|-")
        parser.add_argument("--pack", choices=sorted(packs()), help="the organization's default pack if left out")
        parser.add_argument("--language", help="one of the pack's; the person's in the record if left out")
        parser.add_argument("--organization", metavar="SLUG", help="may be left out while there is only one")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="all that the API answers, one line a record")
        form.add_argument("--html", action="store_true", help="the letter alone, as a page")

    def handle(self, *args: Any, **options: Any) -> None:
        organization = selectors.find_organization(options["organization"])
        pack = packs()[options["pack"] or settings_of(organization.pk).default_pack]
        language = _language(pack, options["language"])
        caller = callers.command_line(organization.pk)
        failures = 0
        for number, raw in enumerate(_records(options["file"]), start=1):
            try:
                records.acceptable(raw)
                found = services.preview(caller=caller, facts=Facts(raw), pack=pack, language=language)
            except DomainError as error:
                failures += 1
                self.stderr.write(f"record {number}: {_sentence(error)}")
                continue
            self.stdout.write(_shown(found, options))
        if failures:
            raise CommandError(f"No notice can be drafted about {failures} of these records; they are named above.")


def _language(pack: Pack, wish: str | None) -> str:
    if wish and not pack.has_language(wish):
        raise CommandError(f"The pack has these languages: {', '.join(pack.languages)}.")
    return wish or ""


def _records(source: str) -> Iterator[bytes]:
    """The records of a file: its lines if the first is a whole JSON document, else all of it as one."""
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
    """What was wrong, and where."""
    if not isinstance(error, Invalid):
        return error.sentence
    return "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'it'}: {each['msg']}" for each in error.problems) + "."


def _shown(found: Preview, options: dict[str, Any]) -> str:
    if options["html"]:
        return str(presenters.preview(found, "html")["letter"])
    answer = presenters.preview(found, "text")
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
        [warnings.ApprovalWarning(**each).line for each in answer["warnings"]],
    )
    untold = [f"{each['path']} ({each['kind']})" for each in answer["untold"]]
    yield from _listed("In the record's outcome, and told nowhere", untold)
    missing = [each for each in answer["elements"] if each["result"] == "missing" and not each["blocks"]]
    yield from _listed("Missing, and advised", [f"{each['label']} ({each['citation']})." for each in missing])


def _listed(heading: str, sentences: list[str]) -> Iterator[str]:
    yield f"{heading}: {len(sentences) or 'none'}"
    yield from (f"  - {sentence}" for sentence in sentences)
