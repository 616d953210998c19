"""wrk putting objects into the emulator's bucket: what it can take, and so our limit.

The addresses are signed before, so that the client costs next to nothing."""

import base64
import hashlib
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.aws_server import AwsServer

SCRIPT = Path(__file__).with_name("puts.lua")
MOST = 6000
"""Puts a second that are prepared for."""


def run(server: AwsServer, bucket: str, body: bytes, directory: Path, *, run: str, clients: int, seconds: int) -> float:
    """Create-only puts a second, each with its checksum, of one body under names that are new."""
    sign = server.client("s3").generate_presigned_url
    names = (f"{run}/{number}" for number in range(MOST * seconds))
    urls = [urlsplit(sign("put_object", {"Bucket": bucket, "Key": name})) for name in names]
    addresses, sent = directory / "addresses", directory / "object"
    addresses.write_text("".join(f"{url.path}?{url.query}\n" for url in urls))
    sent.write_bytes(body)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    threads = min(clients, 2)
    command = ["wrk", "-t", threads, "-c", clients, "-d", f"{seconds}s", "-s", SCRIPT]
    command += [f"http://127.0.0.1:{server.port}/", "--", sent, addresses, urls[0].netloc, digest, threads]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, env=os.environ)
    found = re.search(r"RESULT (\d+) (\d+) (\d+)", done.stdout)
    assert found, done.stdout + done.stderr
    puts, microseconds, failed = map(int, found.groups())
    if failed or puts > len(urls):
        raise SystemExit(f"{failed} of {puts} puts failed")
    return puts / microseconds * 1e6
