"""Data dictionaries as CSV tables, with the columns that a person chose."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from decisions.mapping.exchange.declarations import BadImport, Declared, label_of
from decisions.record import patterns
from decisions.record.patterns import InvalidPattern

MAX_ROWS = 20_000
_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns: the field's path, its label and description, and a code of it with its words."""

    path: str
    label: str = ""
    description: str = ""
    code: str = ""
    meaning: str = ""


def read(text: str, columns: Columns, below: str = "") -> Iterator[Declared]:
    """Yield the fields of a table. Rows of the same path are codes of one field.

    Raises:
        BadImport: a column or a path is missing, a cell is a formula, or there are too many rows.
    """
    fields: dict[str, Declared] = {}
    for number, row in _rows(text, columns):
        if not row["path"]:
            continue
        path = _path(row["path"], below, number)
        known = fields.setdefault(path, Declared(path, label=label_of(row["label"], row["description"])))
        if row["code"]:
            known.codes[row["code"]] = row["meaning"]
    yield from fields.values()


def _rows(text: str, columns: Columns) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the chosen cells of each row with its line number."""
    chosen = {name: getattr(columns, name) for name in Columns.__slots__}
    text = text.removeprefix("\ufeff")
    header, delimiter = _header(text, [column for column in chosen.values() if column])
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True), start=1):
            if number > MAX_ROWS:
                raise BadImport(f"The table has more than {MAX_ROWS} rows.")
            if number == 1:
                continue
            named = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            row = {name: named.get(column, "") if column else "" for name, column in chosen.items()}
            if any(cell.startswith("=") for cell in row.values()):
                raise BadImport(f"Row {number} has a formula. Import the values instead.")
            yield number, row
    except csv.Error as error:
        raise BadImport(f"This is no CSV table: {error}.") from None


def _header(text: str, wanted: list[str]) -> tuple[list[str], str]:
    """Return the header, and the delimiter with which it has all the columns. Raises BadImport."""
    for delimiter in _DELIMITERS:
        try:
            cells = next(csv.reader(io.StringIO(text), delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        header = [cell.strip() for cell in cells]
        if set(wanted) <= set(header):
            return header, delimiter
    raise BadImport(f"The table has no header with these columns: {', '.join(wanted)}.")


def _path(text: str, below: str, number: int) -> str:
    """Return the path of a row as a pattern. `[]`, `[*]` and `[0]` after a list's name are positions."""
    for position in ("[]", "[*]", "[0]"):
        text = text.replace(position, ".*")
    path = f"{below}.{text}" if below else text
    try:
        patterns.parse(path)
    except InvalidPattern as error:
        raise BadImport(f"Row {number}: {error}.") from None
    return path
