"""People with browsers and mailboxes."""

import json
import re
from html import unescape
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.core import mail
from django.test import Client, RequestFactory

from accounts import audit, services, tasks
from accounts.callers import Caller
from accounts.models import AuditEvent, Member, Organization, User
from accounts.roles import Role
from accounts.selectors import SESSION_CONFIRMED
from accounts.services import sessions

JSON = "application/json"


_IDENTIFIER = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+")
_opened: set[str] = set()


class Browser(Client):
    """A browser with CSRF checks, which sends forms with the token of a page. The first form of each page in a test
    process uses the token of that page; later forms reuse the browser's last token."""

    def __init__(self, **defaults: Any) -> None:
        super().__init__(enforce_csrf_checks=True, raise_request_exception=False, **defaults)
        self._tokens: dict[str, str] = {}

    def csrf_token(self, path: str) -> str:
        """Return the token in the forms of a page."""
        return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(path).content.decode()).group(1)

    def submit(self, page: str, to: str = "", **fields: str) -> Any:
        """Send the form of a page, or the one of its forms that goes to `to`."""
        pattern = _IDENTIFIER.sub("#", page)
        token = self._tokens.get(self._csrf_cookie) if pattern in _opened else None
        if token is None:
            token = self.csrf_token(page)
            self._tokens[self._csrf_cookie] = token
            _opened.add(pattern)
        return self.post(to or page, {**fields, "csrfmiddlewaretoken": token})

    @property
    def _csrf_cookie(self) -> str:
        cookie = self.cookies.get(settings.CSRF_COOKIE_NAME)
        return cookie.value if cookie else ""

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Call the API like a page of ours, with the session's CSRF token if there is a session."""
        if self._csrf_cookie not in self._tokens and settings.SESSION_COOKIE_NAME in self.cookies:
            me = self.get("/v1/auth/me")
            if me.status_code == 200:
                self._tokens[self._csrf_cookie] = me.json()["csrf_token"]
        token = self._tokens.get(self._csrf_cookie)
        headers = {"X-CSRFToken": token} if token else {}
        return self.generic(method, path, b"" if body is None else dumped(body), content_type=JSON, headers=headers)

    @property
    def is_signed_in(self) -> bool:
        return self.get("/v1/auth/me").status_code == 200


def linked(answer: Any, rel: str) -> str:
    """Return the address of a page's link with this relation, such as "next", or "" without one."""
    link = re.search(rf'href="([^"]*)" rel="{rel}"', answer.content.decode())
    return answer.wsgi_request.path + unescape(link[1]) if link else ""


def dumped(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


def newest_mail(email: str) -> Any:
    """Run the worker's task, and return the newest mail to an address."""
    tasks.deliver_mail()
    return next(message for message in reversed(mail.outbox) if message.to == [email])


def mailed_code(email: str) -> str:
    return re.search(r"^ {4}(\d{6})$", newest_mail(email).body, re.MULTILINE).group(1)


def mailed_token(email: str) -> str:
    """Return the last part of the link in the newest invitation to an address."""
    return re.search(r"/invites/([0-9]+-[0-9a-f]+)/$", newest_mail(email).body, re.MULTILINE).group(1)


def another(code: str) -> str:
    """Return another code of six digits."""
    return f"{(int(code) + 1) % 10**6:06}"


def ask_for_code(browser: Browser, email: str) -> str:
    """Request a code on the page, and return it from the mail."""
    assert browser.submit("/sign-in/", email=email).status_code == 302
    return mailed_code(email)


def accept(browser: Browser, token: str, email: str) -> Any:
    """Accept an invitation on its page, with the code that it mails. Return the answer to the last step."""
    asked = browser.submit(f"/invites/{token}/")
    if asked.status_code != 302:
        return asked
    return browser.submit("/sign-in/code/", code=mailed_code(email))


def accept_by_api(browser: Browser, token: str, email: str) -> Any:
    """Accept an invitation as a program does. Return the answer to the last step."""
    asked = browser.call("POST", "/v1/auth/invites/accept", {"token": token})
    if asked.status_code != 200:
        return asked
    return browser.call("POST", "/v1/auth/otp/verify", {"email": email, "code": mailed_code(email)})


def sign_in(email: str, **defaults: Any) -> Browser:
    """Sign a person in with a mailed code, and return their browser."""
    browser = Browser(**defaults)
    answer = browser.submit("/sign-in/code/", code=ask_for_code(browser, email))
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    return browser


def signed_in(user: User, **defaults: Any) -> Browser:
    """Begin a session without the pages and the mail of `sign_in`, and return the person's browser."""
    browser = Browser(**defaults)
    request = RequestFactory(**defaults).get("/")
    request.session = SessionStore()
    sessions.begin(request=request, user=user)
    request.session.save()
    browser.cookies[settings.SESSION_COOKIE_NAME] = request.session.session_key
    return browser


def confirmed(browser: Browser) -> Browser:
    """Mark a second factor as proved in the browser's session, and return the browser."""
    session = SessionStore(browser.cookies[settings.SESSION_COOKIE_NAME].value)
    session[SESSION_CONFIRMED] = True
    session.save()
    return browser


def add_person(organization: Organization, role: Role, email: str = "") -> Member:
    email = email or f"{role}@{organization.slug}.example"
    return services.add_member(caller=caller(organization), email=email, role=role)


def caller(organization: Organization, role: Role = Role.OWNER) -> Caller:
    return Caller(organization.id, role, audit.SYSTEM)


def events(verb: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(verb=verb).order_by("pk"))


def menu_pages(browser: Browser) -> set[str]:
    """Return the addresses that the menu and the tabs of its pages offer, without their queries."""
    opened: set[str] = set()
    new = {"/admin/"}
    while new:
        page = new.pop()
        opened.add(page)
        shown = browser.get(page, follow=True).content.decode()
        parts = re.findall(r'<nav (?:id="menu"|class="tabs").*?</nav>', shown, re.DOTALL)
        new |= set(re.findall(r'href="([^"?]*)', "".join(parts))) - opened
    return opened
