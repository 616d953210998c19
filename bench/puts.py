"""wrk putting objects into the emulator's bucket: the rate of the emulator, which limits ours.

The addresses are signed in advance, so that the client costs next to nothing."""

import base64
import hashlib
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.aws_server import AwsServer

SCRIPT = Path(__file__).with_name("puts.lua")
MAX_PUTS_A_SECOND = 6000
"""Addresses that are signed for each second of a run."""


def run(server: AwsServer, bucket: str, body: bytes, directory: Path, *, run: str, clients: int, seconds: int) -> float:
    """Return the rate of create-only puts, each with a checksum, of one body under new names."""
    sign = server.client("s3").generate_presigned_url
    names = (f"{run}/{number}" for number in range(MAX_PUTS_A_SECOND * seconds))
    urls = [urlsplit(sign("put_object", {"Bucket": bucket, "Key": name})) for name in names]
    addresses, sent = directory / "addresses", directory / "object"
    addresses.write_text("".join(f"{url.path}?{url.query}\n" for url in urls))
    sent.write_bytes(body)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    threads = min(clients, 2)
    command = ["wrk", "-t", threads, "-c", clients, "-d", f"{seconds}s", "-s", SCRIPT]
    command += [f"http://127.0.0.1:{server.port}/", "--", sent, addresses, urls[0].netloc, digest, threads]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True, env=os.environ)
    match = re.search(r"RESULT (\d+) (\d+) (\d+)", done.stdout)
    assert match, done.stdout + done.stderr
    puts, microseconds, failed = map(int, match.groups())
    if failed or puts > len(urls):
        raise SystemExit(f"{failed} of {puts} puts failed")
    return puts / microseconds * 1e6
