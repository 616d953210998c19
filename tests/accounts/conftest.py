import re
from collections.abc import Callable

import pytest
from django.core import mail
from django.test import Client

from accounts import callers, services
from accounts.models import Organization
from accounts.roles import Role
from accounts.services import codes

SignIn = Callable[[str], Client]


@pytest.fixture(autouse=True)
def _no_limit_for_strangers(settings) -> None:
    """All tests of a process come from one address within the same minutes."""
    settings.ANONYMOUS_REQUESTS_PER_MINUTE = 0


@pytest.fixture
def sign_in(db: None, settings) -> SignIn:
    """Signs a member in by a mailed code, as a browser does it, and gives the browser, which checks CSRF."""
    settings.CODES_PER_HOUR = settings.CODES_PER_HOUR_AND_CLIENT = 1000

    def by_mail(email: str) -> Client:
        browser = Client(enforce_csrf_checks=True, raise_request_exception=False)
        browser.post("/v1/auth/otp/request", {"email": email}, content_type="application/json")
        codes.deliver_codes()
        (code,) = re.findall(r"\b\d{6}\b", mail.outbox[-1].body)
        answer = browser.post("/v1/auth/otp/verify", {"email": email, "code": code}, content_type="application/json")
        assert answer.json() == {"status": "signed_in"}
        return browser

    return by_mail


@pytest.fixture
def browser_of(sign_in: SignIn) -> Callable[[Organization, Role], Client]:
    """The browser of a new signed-in member of this role, which sends the CSRF token as the API's page would."""

    def make(organization: Organization, role: Role) -> Client:
        email = f"{role}@{organization.slug}.example"
        services.add_member(caller=callers.system(organization.pk), email=email, role=role)
        browser = sign_in(email)
        token = browser.get("/v1/auth/me").json()["csrf_token"]
        browser.defaults["HTTP_X_CSRFTOKEN"] = token
        return browser

    return make
