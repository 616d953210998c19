"""Debian's Chromium, driven by Playwright. It connects to this machine only."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright

from tests.threads import HANGS_SECONDS

# The shell is the same browser without windows. It takes a quarter of the CPU time for a page.
_PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
_WHOLE = ("chromium", "google-chrome")
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


_HANGS = HANGS_SECONDS * 1000


def _be_patient(context: BrowserContext) -> None:
    """Raise Playwright's timeouts, which are five seconds for an expectation and thirty for a page."""
    context.set_default_timeout(_HANGS)


@contextmanager
def chromium(*, shows_pdf: bool = False) -> Iterator[Browser]:
    """Run a browser.

    Args:
        shows_pdf: run the whole browser, because the shell downloads a PDF instead of showing it.
    """
    program = next(filter(None, map(shutil.which, _WHOLE if shows_pdf else _PROGRAMS)), None)
    if program is None:
        raise SystemExit("Chromium is missing: run `make services`.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS, timeout=_HANGS)
        browser.on("context", _be_patient)
        expect.set_options(timeout=_HANGS)
        yield browser
        browser.close()
