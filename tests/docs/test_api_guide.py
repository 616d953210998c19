"""The guide on the API page: its commands work as a reader copies them, and print what the page shows."""

import os
import re
import sys
from html import unescape
from pathlib import Path

from tests.docs.documents import Block, as_pattern, run, start_shell
from tests.system.live import Server

_COMMANDS = re.compile(
    r'<pre><code>(.*?)</code></pre>(?:\s*<p>(?:(?!<pre).)*\s*<pre class="printed"><samp>(.*?)</samp>)?', re.DOTALL
)


def test_the_guide_sends_a_record_checks_its_receipt_and_drafts_a_notice(service: Server, desk: Path):
    with service.client() as client:
        page = client.get("/docs/").body.decode()
    address, *steps = [Block("bash", *map(unescape, groups)) for groups in _COMMANDS.findall(page)]
    assert address.code == f"export URL={service.base_url}\nexport KEY=drs_…"
    start_shell(desk, URL=service.base_url, KEY=service.key, PATH=f"{sys.prefix}/bin:{os.environ['PATH']}")
    assert len(steps) == page.count('class="printed"') == 3
    for step in steps:
        done = run(step, desk)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.fullmatch(as_pattern(step.printed), done.stdout.strip(), re.DOTALL), done.stdout
