import pytest

from accounts.models import User
from tests.access.conftest import Browser, _no_limits, sign_in, signed_in

__all__ = ["_no_limits", "runner", "signed_in"]


@pytest.fixture
def runner(organization, other_api) -> Browser:
    """The browser of who runs the platform, which has two organizations, and who has picked none yet."""
    return sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)


def pick(browser: Browser, organization: object) -> None:
    answer = browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    assert answer.status_code == 302
