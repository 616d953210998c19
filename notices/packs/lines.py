"""Where in a TOML file something stands. The parser gives no lines once the text is read, so they are found again."""

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[(?P<list>\[)?\s*(?P<name>[\w.-]+)\s*\]")
_KEY = re.compile(r"\s*\"?(?P<name>[\w-]+)\"?\s*=")
_TRIPLE = re.compile(r'"""|\'\'\'')


class Lines:
    """The line of every table and key of a TOML text, of the plain kind that packs are written in."""

    def __init__(self, text: str) -> None:
        self._found: dict[tuple[str | int, ...], int] = {}
        counts: dict[str, int] = {}
        table: tuple[str | int, ...] = ()
        inside_text = False
        for number, line in enumerate(text.splitlines(), 1):
            opens_or_closes = len(_TRIPLE.findall(line)) % 2 == 1
            if inside_text:
                inside_text = not opens_or_closes
                continue
            inside_text = opens_or_closes
            if found := _TABLE.match(line):
                name = found["name"]
                table = (*name.split("."), counts.get(name, 0)) if found["list"] else tuple(name.split("."))
                counts[name] = counts.get(name, 0) + 1
                self._found.setdefault(table, number)
            elif found := _KEY.match(line):
                self._found.setdefault((*table, found["name"]), number)

    def of(self, location: Sequence[str | int]) -> int:
        """The line of a location such as `("elements", 3, "where")`, or of what is around it, or 1."""
        for length in range(len(location), 0, -1):
            if line := self._found.get(tuple(location[:length])):
                return line
        return 1
