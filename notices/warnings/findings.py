"""What a rule finds, and the statements that rules look at."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from notices.packs import STATEMENT_FIELDS


class Finding(NamedTuple):
    kind: str
    where: str
    """The path in the content: `main_factors.0`."""
    sentence: str
    words: tuple[str, ...] = ()
    """What was looked at: with other words it is another warning."""


class Statement(NamedTuple):
    section: str
    position: int
    text: str
    source: str

    @property
    def name(self) -> str:
        """As problems name it, counted from 1."""
        return f"statement {self.position + 1} of {self.section}"

    @property
    def where(self) -> str:
        """The path in the content."""
        return f"{self.section}.{self.position}"

    @property
    def drafted_as(self) -> tuple[str, str, str]:
        """The statement as `checklist.stated` lists it."""
        return self.section, self.text, self.source

    def finding(self, kind: str, sentence: str) -> Finding:
        return Finding(kind, self.where, sentence, (self.text, self.source))


def statements(content: Mapping[str, Any], *sections: str) -> Iterator[Statement]:
    """The statements of these sections, or of all, that say something."""
    for section in sections or STATEMENT_FIELDS:
        for position, item in enumerate(content.get(section, [])):
            if item["statement"].strip():
                yield Statement(section, position, item["statement"], item["source"])
