"""Ingest built with another framework: FastAPI and asyncpg, one statement and one commit a request.

It does the work of our ingest: look up and compare the key, read the body strictly, build its field tree, seal and sign
the record, store three rows together, and answer with the receipt. The computation is our code, so only the framework
and the database access differ. It treats a replay as a conflict; the benchmark sends none.
"""

import asyncio
import gc
import os
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import asyncpg
import django
from fastapi import FastAPI, HTTPException, Request, Response

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from accounts import roles, token_hashing  # noqa: E402
from accounts.roles import Permission, Role  # noqa: E402
from accounts.services.keys import PURPOSE  # noqa: E402
from config.http import strict_json  # noqa: E402
from config.http.json_responses import JSON, dump  # noqa: E402
from config.http.strict_json import InvalidJSON  # noqa: E402
from custody import selectors  # noqa: E402
from custody.keys.keyrings import Keyring, keyring  # noqa: E402
from custody.models import object_key  # noqa: E402
from custody.sealing import sealer  # noqa: E402
from custody.vaults import storage_targets  # noqa: E402
from decisions import presenters, records  # noqa: E402

CONNECTIONS = 16
"""Connections of each process: its share of the requests when 64 clients use four processes."""
_TOKEN = re.compile(r"Bearer drs_([0-9a-f]{16})_([\w-]{43})", re.ASCII)
_FRESH_SECONDS = 1.0
_KEY = "SELECT digest, organization_id, role, expires_at, revoked_at FROM accounts_apikey WHERE key_id = $1"
_INSERT = """
    WITH entry AS (
        INSERT INTO custody_entry
            (record_id, organization_id, kind, received_at, vault, state, statement, signature, key_id)
        VALUES ($1, $2, $3, $4, $5, 'stored', $6, $7, $8)
        ON CONFLICT DO NOTHING RETURNING record_id
    ), sealed AS (
        INSERT INTO custody_sealedobject (key, body) SELECT $9, $10 FROM entry
    ), index AS (
        INSERT INTO decisions_decision
            (record_id, organization_id, decision_id, kind, source, received_at, decided_at, action, system_name,
             system_version, subject_reference, review_outcome, reviewer, reviewer_authority)
        SELECT $1, $2, $11, $3, 'api', $4, $12, $13, $14, $15, $16, '', '', '' FROM entry
    )
    SELECT record_id FROM entry
"""

_keys: dict[str, tuple[float, Any]] = {}
_places: dict[uuid.UUID, tuple[Keyring, str]] = {}
_pool: asyncpg.Pool


@asynccontextmanager
async def _lifespan(_: FastAPI) -> AsyncIterator[None]:
    global _pool

    async def no_reset(_: asyncpg.Connection) -> None:
        """Skip the reset that asyncpg sends when a connection is returned: no session state is changed here."""

    url = os.environ["DATABASE_URL"]
    async with asyncpg.create_pool(url, min_size=CONNECTIONS, max_size=CONNECTIONS, reset=no_reset) as _pool:
        await asyncio.to_thread(token_hashing.peppers)
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # as in our server
        yield


application = FastAPI(lifespan=_lifespan, openapi_url=None)


@application.post("/v1/ingest/srf")
async def ingest(request: Request) -> Response:
    organization_id = await _authenticate(request.headers.get("authorization", ""))
    raw = await request.body()
    if len(raw) > strict_json.MAX_BYTES:
        raise HTTPException(422, "the record is larger than 1 MiB")
    try:
        content = records.parse(raw)
    except (InvalidJSON, ValueError) as error:
        raise HTTPException(422, str(error)) from None
    identity = records.identity(content)
    keys, place = _places.get(organization_id) or await _place(organization_id)
    received_at = datetime.now(UTC)
    sealed = sealer.seal(
        keys, kind=records.KIND, identity=identity, payload=raw, content=content, received_at=received_at
    )
    stored = await _pool.fetchval(
        _INSERT, sealed.record_id, organization_id, records.KIND, received_at, place,
        sealed.statement, sealed.signature, sealed.key_id,
        object_key(organization_id, sealed.record_id), sealer.pack(sealed),
        identity, records._moment(content.get("decided_at")), records.text(content, "outcome", "action"),
        records.text(content, "system", "name"), records.text(content, "system", "version"),
        records.text(content, "subject", "reference"),
    )  # fmt: skip
    if stored is None:
        raise HTTPException(409, "a record of this decision_id is in custody")
    receipt = presenters.receipt(identity, selectors.receipt_of(sealed, sealed.payload_salt))
    return Response(dump(receipt), 201, media_type=JSON)


async def _authenticate(authorization: str) -> uuid.UUID:
    match = _TOKEN.fullmatch(authorization)
    if match is None:
        raise HTTPException(401)
    key_id, secret = match.groups()
    key = await _key(key_id)
    genuine = token_hashing.matches(PURPOSE, secret, key["digest"] if key else token_hashing.ABSENT)
    if key is None or not genuine or key["revoked_at"]:
        raise HTTPException(401)
    if key["expires_at"] and key["expires_at"] <= datetime.now(UTC):
        raise HTTPException(401)
    if not roles.allows(Role(key["role"]), Permission.INGEST_RECORDS):
        raise HTTPException(403)
    organization_id: uuid.UUID = key["organization_id"]
    return organization_id


async def _key(key_id: str) -> Any:
    """Return a key's row, at most a second old."""
    now = time.monotonic()
    remembered = _keys.get(key_id)
    if remembered and remembered[0] > now:
        return remembered[1]
    row = await _pool.fetchrow(_KEY, key_id)
    if row:
        _keys[key_id] = now + _FRESH_SECONDS, row
    return row


async def _place(organization_id: uuid.UUID) -> tuple[Keyring, str]:
    """Return the organization's keys and storage target. They are read once; our server reads them more often."""

    def read() -> tuple[Keyring, str]:
        return keyring(organization_id), storage_targets.current(organization_id).pk

    place = _places[organization_id] = await asyncio.to_thread(read)
    return place
