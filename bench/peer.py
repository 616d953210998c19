"""pgbench running the statement of ingest: the rate of the database alone, which limits ours."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from custody.rows.bulk_insert import NewRecord, _values, prepared
from tests.throwaway import postgresql_program

_VARIABLE = "bytes"
_SHORT = 64


def script(records: Sequence[NewRecord]) -> str:
    """Return ingest's statement for these records as a pgbench script.

    In place of each identifying value, the script has an id that is new at each run. Long binary values are sent with
    each record, as any client must, as text of the same length. Short values are literals in the statement. Where
    ingest binds a column as an array, the script builds the array from its values.
    """
    statement, _ = prepared(records)
    rows = [[_literal(v, row, i) for row in record for v in _values(row)] for i, record in enumerate(records)]
    columns = zip(*rows, strict=True)
    literals = iter(rows[0] if len(rows) == 1 else [f"ARRAY[{', '.join(column)}]" for column in columns])
    statement = re.sub(r"%s", lambda _: next(literals), statement)
    seeded = statement.replace("WITH new", "WITH seed AS (SELECT :n::bigint AS n), new", 1)
    return f"\\set n random(1, 9000000000000000000)\n{' '.join(seeded.split())};\n"


def _literal(value: object, row: object, position: int) -> str:
    identifier = f"md5(((SELECT n FROM seed) + {position})::text)"
    if value is None:
        return "NULL"
    if isinstance(value, bytes | memoryview) or hasattr(value, "obj"):
        size = len(bytes(getattr(value, "obj", value)))
        return (
            f"convert_to(:{_VARIABLE}{size}, 'UTF8')" if size > _SHORT else f"convert_to(repeat('x', {size}), 'UTF8')"
        )
    if value == getattr(row, "pk", None):
        prefix = "" if "/" not in str(value) else str(value).rsplit("/", 1)[0] + "/"
        return f"('{prefix}' || {identifier})"
    if value == getattr(row, "decision_id", None):
        return identifier
    return "'" + str(value).replace("'", "''") + "'"


def run(database: str, file: Path, *, clients: int, seconds: int, rows: int = 1, log: Path | None = None) -> float:
    """Return records a second, with `rows` of them a transaction. The times of transactions go to files `log`.…"""
    url = urlsplit(database)
    command = [postgresql_program("pgbench"), "-n", "-M", "prepared", "-c", clients, "-j", min(clients, 2)]
    sizes = set(re.findall(rf":{_VARIABLE}(\d+)", file.read_text()))
    command += [part for size in sizes for part in ("-D", f"{_VARIABLE}{size}={'x' * int(size)}")]
    command += ["-T", seconds, "-f", file, "-h", url.hostname, "-p", url.port, "-U", url.username, url.path[1:]]
    command += ["--log", f"--log-prefix={log}"] if log else []
    environment = os.environ | {"PGPASSWORD": url.password or ""}
    done = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, check=True)
    match = re.search(r"tps = ([\d.]+)", done.stdout)
    assert match, done.stdout
    return float(match[1]) * rows


def p99_milliseconds(log: Path) -> float:
    """Return the 99th percentile of the transactions in the log of a run, and remove the log."""
    files = list(log.parent.glob(f"{log.name}.*"))
    microseconds = sorted(int(line.split()[2]) for file in files for line in file.read_text().splitlines())
    for file in files:
        file.unlink()
    return microseconds[len(microseconds) * 99 // 100] / 1000
