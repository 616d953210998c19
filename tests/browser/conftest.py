"""Browsers for each test, in which nothing may be refused by the content security policy, and no script may fail."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, StorageState

from tests.browser.letters import Letter, approved
from tests.browser.service import Service, service

_ANSWERED_WITH_AN_ERROR = "Failed to load resource: the server responded with a status of"
_LEFT_THE_PAGE = "net::ERR_ABORTED"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(CONNECTOR_DIRECTORIES=str(tmp_path_factory.mktemp("exports"))) as running:
        yield running


@pytest.fixture(scope="session")
def idle_contexts() -> dict[str, list[BrowserContext]]:
    """The browsers that tests before have used, by their options: with another one, every file is fetched again."""
    return defaultdict(list)


@pytest.fixture
def open_page(browser: Browser, idle_contexts: dict[str, list[BrowserContext]]) -> Iterator[Callable[..., Page]]:
    """Opens a page in a browser that knows nothing else at an address; options are those of Playwright's contexts."""
    complaints: list[str] = []
    used = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_ANSWERED_WITH_AN_ERROR):
            complaints.append(message.text)

    def note_failure(request: Request) -> None:
        if request.failure != _LEFT_THE_PAGE:
            complaints.append(f"{request.url}: {request.failure}")

    def make(
        site: Service, path: str = "/sign-in/", *, storage_state: StorageState | None = None, **options: Any
    ) -> Page:
        idle = idle_contexts[f"{site.url} {options}"]
        context = idle.pop() if idle else browser.new_context(base_url=site.url, **options)
        used.append((idle, context))
        context.set_storage_state(storage_state or {})
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", note_failure)
        page.goto(path)
        return page

    yield make
    for idle, context in used:
        for page in context.pages:
            page.close()
        idle.append(context)
    assert complaints == []


@pytest.fixture(scope="session")
def signed_in_state(site: Service) -> Callable[[str], StorageState]:
    """The `storage_state` of the browser of a person who is signed in, by whose address."""
    return cache(site.signed_in)


@pytest.fixture
def page(open_page: Callable[..., Page], site: Service) -> Page:
    """The sign-in page."""
    return open_page(site)


@pytest.fixture(scope="session")
def letter(site) -> Letter:
    return approved(site, "letter-1")


@pytest.fixture(scope="session")
def other(site) -> Letter:
    return approved(site, "letter-2", "de")


@pytest.fixture
def opened(site, open_page, letter) -> Callable[..., Page]:
    """The page of `letter`; options are those of Playwright's contexts."""
    return lambda **options: open_page(site, letter.path, **options)
