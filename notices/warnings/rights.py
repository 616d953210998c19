"""Rights that a pack words and that a letter names though the decision, or its day, does not have them."""

from collections.abc import Iterator, Mapping
from typing import Any

from notices.checklist import Case
from notices.packs import fill, is_text
from notices.warnings.findings import Finding


def findings(case: Case, content: Mapping[str, Any]) -> Iterator[Finding]:
    """Somebody wrote them into the letter, or it was drafted before this was looked at."""
    pack, record = case.pack, case.facts.get
    has_rights = pack.scope.gives_rights(case.decided_on)
    texts, recorded = pack.text(str(content["language"])).locked, pack.recorded(record)
    locked = [(fill(texts[lock.id], recorded), has_rights and lock.applies_to(record)) for lock in pack.locked]
    for position, right in enumerate(content["rights"]):
        fitting = [applies for text, applies in locked if is_text(right, text)]
        if fitting and not any(fitting):
            why = "is not there for a decision like this" if has_rights else "was not there yet when this was decided"
            sentence = (
                f"Right {position + 1} {why}, by {pack.short_name}: leave it out, or offer it in words of your own."
            )
            yield Finding("no_such_right", f"rights.{position}", sentence, (right,))
