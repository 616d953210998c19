"""pgbench running the very statement that ingest runs: what the database alone can do, as the limit we measure against."""

import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from tests.throwaway import postgresql_program


def script(statement: str, values: list[object], record_id: str, decision_id: str) -> str:
    """The ingest statement as a pgbench script.

    Args:
        statement: SQL with a `%s` for each of `values`, which are one real record's.
        record_id, decision_id: what identifies that record; wherever a value holds one of them, the script puts a
            fresh id made from a random number. Everything else stays as it was, inlined: pgbench does not even have
            to send it, so the limit is a hard one.
    """
    literals = iter([_literal(value, record_id, decision_id) for value in values])
    return (
        "\\set n random(1, 9000000000000000000)\n"
        + re.sub(r"%s", lambda _: next(literals), " ".join(statement.split()))
        + ";\n"
    )


def _literal(value: object, record_id: str, decision_id: str) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes | memoryview) or hasattr(value, "obj"):
        return f"'\\x{bytes(getattr(value, 'obj', value)).hex()}'"
    text = str(value).replace("'", "''")
    if str(value) == record_id:
        return "md5(:n::text)"
    if str(value) == decision_id:
        return "('bench-' || :n)"
    if record_id.replace("-", "") in text:
        return f"('{text.replace(record_id.replace('-', ''), '')}' || md5(:n::text))"
    return f"'{text}'"


def run(server: str, script_file: Path, *, clients: int, seconds: int) -> float:
    """Transactions a second."""
    url = urlsplit(server)
    command = [
        postgresql_program("pgbench"),
        "-n",
        "-M",
        "prepared",
        "-c",
        clients,
        "-j",
        min(clients, 2),
        "-T",
        seconds,
        "-f",
        script_file,
        "-h",
        url.hostname,
        "-p",
        url.port,
        "-U",
        url.username,
        url.path.lstrip("/"),
    ]
    done = subprocess.run(
        list(map(str, command)),
        env=os.environ | {"PGPASSWORD": url.password or ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(re.search(r"tps = ([\d.]+)", done.stdout)[1])
