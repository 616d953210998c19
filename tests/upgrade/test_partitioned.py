"""Databases with partitions, which an earlier command made: they upgrade, store records, and move to plain tables."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.databases import CHECKOUT, migrated, new_database, suite_url
from tests.system.live import Server
from tests.throwaway import postgresql_program
from tests.upgrade.conftest import HERE, UPGRADE
from tests.upgrade.make_fixture import DUMP, dump

pytestmark = pytest.mark.postgresql

KEYS = {"custody_entry": "record_id", "custody_sealedobject": "key", "decisions_decision": "record_id"}
PARTS = 2
COUNT = "SELECT count(*) FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid AND relkind = 'r'"
FIRST_WITH_PARTITIONS = [["custody", "0011"], ["decisions", "0005"]]


def partitioned(text: str) -> str:
    """Return a dump whose tables have partitions, as the command made them."""
    for table, key in KEYS.items():
        parts = "".join(
            f"CREATE TABLE public.{table}_p{n} PARTITION OF public.{table}"
            f" FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {n});\n"
            for n in range(PARTS)
        )
        text = text.replace(f"ALTER TABLE ONLY public.{table}\n", f"ALTER TABLE public.{table}\n")
        created = rf"(CREATE TABLE public\.{table} \(.*?\n\));\n((?:ALTER TABLE ONLY public\.{table} [^\n]*\n)*)"
        text, count = re.subn(created, rf"\1 PARTITION BY HASH ({key});\n\2{parts}", text, flags=re.DOTALL)
        assert count == 1
    return text.replace("UNIQUE (organization_id, decision_id);", "UNIQUE (organization_id, decision_id, record_id);")


def fill(url: str, text: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(text.encode())


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Server]:
    """Partition an installation of the version that had the command first, and upgrade it."""
    data = tmp_path / "data"
    shutil.unpack_archive(HERE / "postgresql.tar.xz", data)
    with new_database() as url:
        fill(url, (data / DUMP).read_text())
        server = Server(tmp_path, {"DATA_DIR": str(data), "DATABASE_URL": url, "CUSTODY_VAULT": "database"}, workers=1)
        try:
            for state in FIRST_WITH_PARTITIONS:
                server.manage("migrate", *state)
            dump(url, tmp_path / DUMP)
            server.sql("DROP SCHEMA public CASCADE")
            fill(url, "CREATE SCHEMA public;" + partitioned((tmp_path / DUMP).read_text()))
            for command in UPGRADE:
                server.manage(*command)
            yield server
        finally:
            server.end()


def ingest(server: Server, *decision_ids: str) -> str:
    file = server.directory / "records.ndjson"
    file.write_text("".join(f'{{"decision_id": "{decision_id}"}}\n' for decision_id in decision_ids))
    return server.manage("ingest", str(file))


def test_a_partitioned_database_upgrades_stores_records_and_moves_to_plain_tables(old):
    assert old.sql(COUNT) == [(len(KEYS) * PARTS,)]
    assert ingest(old, "loan-1", "loan-2") == "2 created"
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation):
        old.sql("TRUNCATE custody_sealedobject_p0")
    page = (CHECKOUT / "docs/operations.md").read_text()
    commands = page.partition("\n### Beyond one disk\n")[2].partition("```sh\n")[2].partition("```")[0]
    with new_database() as new:
        programs = f"{Path(postgresql_program('pg_dump')).parent}:{os.environ['PATH']}"
        urls = {"MIGRATED": migrated(suite_url()), "OLD": old.environment["DATABASE_URL"], "NEW": new}
        subprocess.run(["sh", "-ec", commands], cwd=old.directory, env={"PATH": programs, **urls}, check=True)
        plain = Server(old.directory, {**old.environment, "DATABASE_URL": new}, workers=1)
        try:
            plain.manage("custody_fsck")
            assert plain.sql(COUNT) == [(0,)]
            assert ingest(plain, "loan-1", "loan-2", "loan-3") == "1 created, 2 replayed"
        finally:
            plain.end()
