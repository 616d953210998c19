"""The pictures in docs/pictures, taken from a running service: `python -m docs.screenshots`.

The script starts a service with the sample decisions in a temporary directory, and removes it afterwards.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from docs.camera import PICTURES, fit, shoot
from docs.walk import OWNER, walk
from tests.browser.chromium import chromium
from tests.browser.people import sign_in
from tests.browser.service import Service, worker
from tests.browser.tour import tour
from tests.system.live import Server

NEWCOMER = "approver@demo.example"
OF_THE_TOUR = {
    "invitation": "invitation",
    "sign in": "sign-in",
    "code": "code",
    "code, refused": "code-refused",
    "second factor, enrolling": "second-factor-enrol",
    "second factor": "second-factor",
}
AGENTS = {
    "Desk": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Phone": "Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0",
}


@contextmanager
def demonstration() -> Iterator[Service]:
    """Start web and worker with the demo's data, as `make run` does."""
    with tempfile.TemporaryDirectory() as directory:
        settings = {"DATA_DIR": f"{directory}/data", "DATABASE_URL": f"sqlite:///{directory}/db.sqlite3"}
        settings |= {"CODES_PER_HOUR": "100", "CODES_PER_HOUR_AND_CLIENT": "100"}
        settings |= {"ANONYMOUS_REQUESTS_PER_MINUTE": "0", "REDIS_URL": ""}
        live = Server(Path(directory), settings, workers=1)
        live.manage("migrate", "--verbosity", "0")
        live.manage("demo")
        live.key = (live.data_dir / "demo_api_key").read_text()
        live.start()
        try:
            with worker(live):
                yield Service(live)
        finally:
            live.kill()


def pages_of_sign_in(browser: Browser, site: Service) -> None:
    page = browser.new_page(base_url=site.url, viewport={"width": 640, "height": 480})
    for name in tour(site, page, NEWCOMER):
        if name in OF_THE_TOUR:
            fit(page)
            shoot(page, OF_THE_TOUR[name])
    page.close()
    dark = browser.new_page(base_url=site.url, viewport={"width": 360, "height": 480}, color_scheme="dark")
    dark.goto("/sign-in/")
    shoot(dark, "sign-in-dark")
    dark.close()


def pages_of_access(browser: Browser, site: Service) -> None:
    phone = browser.new_page(base_url=site.url, user_agent=AGENTS["Phone"])
    phone.goto("/sign-in/")
    sign_in(site, phone, OWNER)
    page = browser.new_page(
        base_url=site.url, user_agent=AGENTS["Desk"], viewport={"width": 1100, "height": 480}, color_scheme="light"
    )
    page.goto("/sign-in/")
    sign_in(site, page, OWNER)
    shoot(page, "first-steps", page.get_by_role("banner"), page.get_by_role("region", name="First steps"))
    page.get_by_role("button", name="Dismiss").click()
    page.set_viewport_size({"width": 1280, "height": 560})
    page.goto("/admin/accounts/auditevent/")
    shoot(page, "audit-trail")
    page.set_viewport_size({"width": 640, "height": 480})
    page.goto("/account/sessions/")
    fit(page)
    shoot(page, "sessions")
    phone.close()
    page.close()


def page_of_a_connector(browser: Browser, site: Service) -> None:
    page = browser.new_page(base_url=site.url, viewport={"width": 1100, "height": 480}, color_scheme="light")
    page.goto("/sign-in/")
    sign_in(site, page, OWNER)
    page.goto("/admin/connectors/connector/")
    page.get_by_role("link", name="Export of mortgage decisions").click()
    page.locator("#settings-title").evaluate("heading => heading.nextElementSibling.remove()")  # a folder made for this
    shoot(page, "connector", page.get_by_role("heading", level=1), page.get_by_role("heading", name="Quarantine"))
    page.close()


def page_of_retention(browser: Browser, site: Service) -> None:
    page = browser.new_page(base_url=site.url, viewport={"width": 1100, "height": 480}, color_scheme="light")
    page.goto("/sign-in/")
    sign_in(site, page, OWNER)
    page.goto("/admin/retention/policy/")
    page.get_by_label("Keep decisions for this many days").fill("2")
    page.get_by_role("button", name="Preview what would be deleted").click()
    fit(page)
    shoot(page, "retention")
    page.close()


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    with demonstration() as site, chromium(shows_pdf=True) as browser:
        pages_of_sign_in(browser, site)
        pages_of_access(browser, site)
        page_of_a_connector(browser, site)
        page_of_retention(browser, site)
        walk(browser, site)


if __name__ == "__main__":
    main()
