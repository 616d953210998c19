"""Browser fixtures. A test fails if the content security policy refuses anything or a script fails."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, StorageState

from tests.browser.letters import Letter, approved
from tests.browser.service import Service, service

_ANSWERED_WITH_AN_ERROR = "Failed to load resource: the server responded with a status of"
_LEFT_THE_PAGE = "net::ERR_ABORTED"
_DESK = {"width": 1280, "height": 720}


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(CONNECTOR_DIRECTORIES=str(tmp_path_factory.mktemp("exports"))) as running:
        yield running


@pytest.fixture(scope="session")
def complaints() -> list[str]:
    """Return the list to which browsers append their complaints."""
    return []


@pytest.fixture(scope="session")
def idle_pages() -> dict[str, list[Page]]:
    """Return the pages of earlier tests, by the options of their browsers. A new page takes three times as long: it
    starts a process, and a new browser fetches every file again."""
    return defaultdict(list)


@pytest.fixture
def open_page(
    browser: Browser, complaints: list[str], idle_pages: dict[str, list[Page]]
) -> Iterator[Callable[..., Page]]:
    """Yield a function that opens an address in a browser without cookies, with the options of Playwright's contexts.

    A test that changes the page for good, for example by an init script, must open a new page in the context.
    """
    used = []

    def new_page(options: dict[str, Any]) -> Page:
        context = browser.new_context(**options)
        context.on("console", lambda message: complaints.extend(_faults(message)))
        context.on("weberror", lambda fault: complaints.append(str(fault.error)))
        context.on("requestfailed", lambda request: complaints.extend(_failure(request)))
        return context.new_page()

    def make(
        site: Service, path: str = "/sign-in/", *, storage_state: StorageState | None = None, **options: Any
    ) -> Page:
        options = {"base_url": site.url, "viewport": _DESK, **options}
        idle = idle_pages[str(options)]
        page = idle.pop() if idle else new_page(options)
        used.append((idle, page))
        page.set_viewport_size(options["viewport"])
        page.emulate_media(media="null", color_scheme="null")
        page.context.set_storage_state(storage_state or {})
        page.goto(path)
        return page

    complaints.clear()
    yield make
    for idle, page in used:
        for other in set(page.context.pages) - {page}:
            other.close()
        page.evaluate("sessionStorage.clear()")
        idle.append(page)
    assert complaints == []


def _faults(message: ConsoleMessage) -> list[str]:
    is_fault = message.type in ("error", "warning") and not message.text.startswith(_ANSWERED_WITH_AN_ERROR)
    return [message.text] if is_fault else []


def _failure(request: Request) -> list[str]:
    return [f"{request.url}: {request.failure}"] if request.failure != _LEFT_THE_PAGE else []


@pytest.fixture(scope="session")
def signed_in_state(site: Service) -> Callable[[str], StorageState]:
    """Return a function that gives the `storage_state` of a signed-in person's browser, by their address."""
    return cache(site.signed_in)


@pytest.fixture
def page(open_page: Callable[..., Page], site: Service) -> Page:
    """Open the sign-in page."""
    return open_page(site)


@pytest.fixture(scope="session")
def letter(site) -> Letter:
    return approved(site, "letter-1")


@pytest.fixture(scope="session")
def other(site) -> Letter:
    return approved(site, "letter-2", "de")


@pytest.fixture
def opened(site, open_page, letter) -> Callable[..., Page]:
    """Return a function that opens the page of `letter`. Its options are those of Playwright's contexts."""
    return lambda **options: open_page(site, letter.path, **options)
