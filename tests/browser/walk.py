"""A walk through the back office: every page that its links reach, and every link."""

import re
from collections import deque
from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

from playwright.sync_api import Page

_ID = r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+"
_LINKS = "[...document.querySelectorAll('a[href]')].map(link => link.href)"


def shape(path: str) -> str:
    """Return a path without ids and query: one page of each shape is walked."""
    return re.sub(rf"/({_ID})(?=/)", "/N", urlsplit(path).path)


class Walk:
    """A walk of one signed-in person.

    Attributes:
        links: every address of the service that a page links to.
        opened: the addresses of the pages.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self.links: set[str] = set()
        self.opened: set[str] = set()

    def pages(self, *begin: str) -> Iterator[str]:
        """Open one page of each shape, and yield its address."""
        waiting, known = deque(begin), {shape(path) for path in begin if "?" not in path}
        while waiting:
            path = waiting.popleft()
            response = self._page.goto(path)
            if response is None or response.status != 200:
                raise AssertionError(f"{path} answers {response and response.status}")
            self.opened.add(path)
            for link in self._addresses():
                self.links.add(link)
                if link.startswith("/admin/") and shape(link) not in known and not self._is_file(link):
                    known.add(shape(link))
                    waiting.append(link)
            yield path

    def broken_links(self) -> list[str]:
        """Ask every link that was not opened once, and return those that do not answer 200."""
        answers = {link: self._page.request.get(link).status for link in sorted(self.links - self.opened)}
        return [f"{link} answers {status}" for link, status in answers.items() if status != 200]

    def _addresses(self) -> list[str]:
        """Return the links of the page that lead to the service, without fragments."""
        links = [urljoin(self._page.url, link) for link in self._page.evaluate(_LINKS)]
        own = [urlsplit(link) for link in links if urlsplit(link).netloc == urlsplit(self._page.url).netloc]
        return [f"{link.path}?{link.query}" if link.query else link.path for link in own]

    def _is_file(self, link: str) -> bool:
        """Whether a link leads to a download or a letter, which are no pages of the back office."""
        return "text/html" not in self._page.request.head(link).headers.get("content-type", "")
