import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts import selectors as accounts
from decisions import selectors
from decisions.models import Decision


class Command(BaseCommand):
    help = (
        "Check whether a text is the rationale, or an evidence reference, that a reconsideration committed to. "
        "The text is read from a file or standard input, so that it stays out of the shell's history, and is not "
        "stored. Exits 1 if the text is another."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("decision_id", help="the reconsideration's own decision_id")
        parser.add_argument("--organization", required=True, metavar="SLUG")
        parser.add_argument("--evidence", action="store_true", help="the text is an evidence reference")
        parser.add_argument("--text", required=True, metavar="FILE|-", help="with or without its final line break")

    def handle(self, *args: Any, **options: Any) -> None:
        text = self._text(options["text"])
        organization = accounts.organization(options["organization"])
        decision = selectors.decision(organization.id, options["decision_id"])
        if not any(self._is_committed(decision, spelling, options["evidence"]) for spelling in _spellings(text)):
            raise CommandError("This is not the text that was committed to.")
        self.stdout.write("This is the text that was committed to.")

    @staticmethod
    def _is_committed(decision: Decision, text: str, evidence: bool) -> bool:
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
    """Return the text of the file, and the same text without a final line break and with LF for CR LF."""
    typed = text.replace("\r\n", "\n")
    return {text, text.removesuffix("\n").removesuffix("\r"), typed, typed.removesuffix("\n")}
