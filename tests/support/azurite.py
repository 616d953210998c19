"""An Azure Blob Storage emulator (azurite) that checks signatures, in a separate process that ends with this one."""

import base64
import os
import secrets
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from azure.storage.blob import BlobServiceClient

from tests.support.certificates import Authority
from tests.support.forwarding import hang_up
from tests.throwaway import free_port, wait_for_port

_PROGRAM = Path(__file__).parent.parent.parent / ".cache/azurite/node_modules/.bin/azurite-blob"
ACCOUNT = "drstests"


class Azurite(NamedTuple):
    port: int
    endpoint: str
    key: str
    client: BlobServiceClient


@contextmanager
def azurite(authority: Authority | None = None) -> Iterator[Azurite]:
    """Run azurite. With an authority it has a certificate, speaks TLS, and accepts tokens of Entra ID."""
    if not _PROGRAM.exists():
        raise SystemExit("azurite is missing: run `make services`.")
    port, key = free_port(), base64.b64encode(secrets.token_bytes(64)).decode()
    arguments = f"--blobHost 127.0.0.1 --blobPort {port} --inMemoryPersistence --silent --disableTelemetry"
    if authority:
        certificate, private = authority.issue("127.0.0.1", "localhost")
        arguments += f" --cert {certificate} --key {private} --oauth basic"
    # The shell ends azurite when its standard input closes, so it ends with this process.
    server = subprocess.Popen(
        ["sh", "-c", f'"{_PROGRAM}" {arguments} & cat; kill $!'],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{key}"},
    )
    try:
        wait_for_port(port)
        scheme = "https" if authority else "http"
        credential = {"account_name": ACCOUNT, "account_key": key}
        with BlobServiceClient(
            f"{scheme}://127.0.0.1:{port}/{ACCOUNT}",
            credential=credential,
            api_version="2021-12-02",
            connection_verify=str(authority.file) if authority else True,
        ) as client:
            yield Azurite(port, f"{scheme}://localhost:{port}/{ACCOUNT}", key, client)
    finally:
        hang_up(port)
        server.stdin.close()  # type: ignore[union-attr]
        server.wait()
