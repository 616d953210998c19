"""A browser for each test, in which nothing may be refused by the content security policy, and no script may fail."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request

from tests.browser.letters import Letter, approved
from tests.browser.people import sign_in
from tests.browser.service import Service, service

_ANSWERED_WITH_AN_ERROR = "Failed to load resource: the server responded with a status of"
_LEFT_THE_PAGE = "net::ERR_ABORTED"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with service(CONNECTOR_DIRECTORIES=str(tmp_path_factory.mktemp("exports"))) as running:
        yield running


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a page in a browser of its own at an address; options are those of Playwright's contexts."""
    complaints: list[str] = []
    contexts = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith(_ANSWERED_WITH_AN_ERROR):
            complaints.append(message.text)

    def note_failure(request: Request) -> None:
        if request.failure != _LEFT_THE_PAGE:
            complaints.append(f"{request.url}: {request.failure}")

    def make(site: Service, path: str = "/sign-in/", **options: Any) -> Page:
        context = browser.new_context(base_url=site.url, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", note_failure)
        page.goto(path)
        return page

    yield make
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def signed_in_state(site: Service, browser: Browser) -> Callable[[str], Any]:
    """What the browser of a person keeps, by whose address, once they are signed in: `storage_state` of a new one."""

    @cache
    def state(address: str) -> Any:
        context = browser.new_context(base_url=site.url)
        page = context.new_page()
        page.goto("/sign-in/")
        sign_in(site, page, address)
        kept = context.storage_state()
        context.close()
        return kept

    return state


@pytest.fixture
def page(open_page: Callable[..., Page], site: Service) -> Page:
    """The sign-in page."""
    return open_page(site)


@pytest.fixture(scope="module")
def letter(site) -> Letter:
    return approved(site, "letter-1")


@pytest.fixture(scope="module")
def other(site) -> Letter:
    return approved(site, "letter-2", "de")


@pytest.fixture
def opened(site, open_page, letter) -> Callable[..., Page]:
    """The page of `letter`; options are those of Playwright's contexts."""
    return lambda **options: open_page(site, letter.path, **options)
