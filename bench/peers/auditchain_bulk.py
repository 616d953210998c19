"""Records a second into PyPI's `auditchain` on PostgreSQL, in batches: `records seconds`.

A chain has one writer, because each record holds the hash of the previous one. With `signed`, each record is signed
with Ed25519 and sealed with HMAC, as our statements are. With `plain`, records are only chained by SHA-256.

Usage: python -m bench.peers.auditchain_bulk URL RECORD SECONDS BATCH signed|plain
"""

import json
import os
import sys
import time
from pathlib import Path

import uvloop
from auditchain import AuditLog, PostgresBackend, generate_keypair


async def main(url: str, file: str, seconds: str, batch: str, kind: str) -> None:
    body = Path(file).read_bytes()
    keys = {"seal_key": os.urandom(32), "signing_key": generate_keypair()[0]} if kind == "signed" else {}
    done = 0
    async with AuditLog(PostgresBackend(url, table=f"audit_{kind}_{os.getpid()}"), **keys) as log:
        started = time.perf_counter()
        while (elapsed := time.perf_counter() - started) < float(seconds):
            entries = [("bench", "decision", f"decision-{done + n}", json.loads(body)) for n in range(int(batch))]
            done += len(await log.append_many(entries))
    print(done, elapsed)


if __name__ == "__main__":
    uvloop.run(main(*sys.argv[1:]))
