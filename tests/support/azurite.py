"""An Azure Blob Storage that checks signatures (azurite), in a process of its own that ends with this one."""

import base64
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from azure.storage.blob import BlobServiceClient

from tests.throwaway import free_port, wait_for_port

_PROGRAM = Path(__file__).parent.parent.parent / ".cache/azurite/node_modules/.bin/azurite-blob"
ACCOUNT = "drstests"


class Azurite(NamedTuple):
    endpoint: str
    key: str
    client: BlobServiceClient


@contextmanager
def azurite() -> Iterator[Azurite]:
    if not _PROGRAM.exists():
        raise SystemExit("azurite is missing: run `make services`.")
    port, key = free_port(), base64.b64encode(secrets.token_bytes(64)).decode()
    arguments = f"--blobHost 127.0.0.1 --blobPort {port} --inMemoryPersistence --silent --disableTelemetry"
    # It ends when its standard input does, that is with this process.
    server = subprocess.Popen(
        ["sh", "-c", f'"{_PROGRAM}" {arguments} & cat; kill $!'],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{key}"},
    )
    try:
        wait_for_port(port)
        endpoint = f"http://localhost:{port}/{ACCOUNT}"
        credential = {"account_name": ACCOUNT, "account_key": key}
        with BlobServiceClient(
            f"http://127.0.0.1:{port}/{ACCOUNT}", credential=credential, api_version="2021-12-02"
        ) as client:
            yield Azurite(endpoint, key, client)
    finally:
        server.stdin.close()  # type: ignore[union-attr]
        server.wait()
