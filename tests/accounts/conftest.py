from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import Organization
from accounts.roles import Role
from tests.people import Browser


@pytest.fixture
def browser_of(signed_in: Callable[..., Browser]) -> Callable[[Organization, Role], Client]:
    """Sign a new member of a role in. The browser sends the CSRF token, as the API's page does."""

    def make(organization: Organization, role: Role) -> Client:
        browser = signed_in(role, of=organization)
        browser.defaults["HTTP_X_CSRFTOKEN"] = browser.get("/v1/auth/me").json()["csrf_token"]
        return browser

    return make
