"""Line numbers in a TOML file. The parser does not keep them, so a second pass finds them."""

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[(?P<list>\[)?\s*(?P<name>[\w.-]+)\s*\]")
_KEY = re.compile(r"\s*\"?(?P<name>[\w-]+)\"?\s*=")
_TRIPLE = re.compile(r'"""|\'\'\'')


class Lines:
    """The line of every table and key of a TOML text, in the simple syntax of packs."""

    def __init__(self, text: str) -> None:
        self._numbers: dict[tuple[str | int, ...], int] = {}
        counts: dict[str, int] = {}
        table: tuple[str | int, ...] = ()
        inside_text = False
        for number, line in enumerate(text.splitlines(), 1):
            opens_or_closes = len(_TRIPLE.findall(line)) % 2 == 1
            if inside_text:
                inside_text = not opens_or_closes
                continue
            inside_text = opens_or_closes
            if match := _TABLE.match(line):
                name = match["name"]
                table = (*name.split("."), counts.get(name, 0)) if match["list"] else tuple(name.split("."))
                counts[name] = counts.get(name, 0) + 1
                self._numbers.setdefault(table, number)
            elif match := _KEY.match(line):
                self._numbers.setdefault((*table, match["name"]), number)

    def of(self, location: Sequence[str | int]) -> int:
        """Return the line of a location such as `("elements", 3, "where")`, else of its nearest parent, else 1."""
        for length in range(len(location), 0, -1):
            if line := self._numbers.get(tuple(location[:length])):
                return line
        return 1
