import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import selectors as accounts
from decisions import selectors
from decisions.models import Decision


class Command(BaseCommand):
    help = (
        "Tell whether a text is the rationale, or one of the evidence references, that a reconsideration committed to. "
        "The text comes from a file or standard input, so that it stays out of the shell's history; nothing of it is "
        "kept. Exits 1 if it is not."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("decision_id", help="the reconsideration's own decision_id")
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--evidence", action="store_true", help="the text is an evidence reference")
        parser.add_argument("--text", required=True, metavar="FILE|-", help="with or without its final line break")

    def handle(self, *args: Any, **options: Any) -> None:
        text = self._text(options["text"])
        organization = accounts.organization(options["organization"])
        found = selectors.decision(organization.id, options["decision_id"])
        if not any(self._is(found, each, options["evidence"]) for each in _spellings(text)):
            raise CommandError("This is not the text that was committed to.")
        self.stdout.write("This is the text that was committed to.")

    @staticmethod
    def _is(decision: Decision, text: str, evidence: bool) -> bool:
        rationale, references = selectors.check_texts(
            decision,
            rationale=None if evidence else text,
            evidence_considered=[text] if evidence else [],
        )
        return bool(rationale) or any(references)

    @staticmethod
    def _text(source: str) -> str:
        try:
            raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
            return raw.decode()
        except OSError as error:
            raise CommandError(f"Cannot read {source}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise CommandError("The text is not UTF-8.") from None


def _spellings(text: str) -> set[str]:
    """The text as it stands in its file, and as it was sent or typed if that was without the file's line ends."""
    typed = text.replace("\r\n", "\n")
    return {text, text.removesuffix("\n").removesuffix("\r"), typed, typed.removesuffix("\n")}
