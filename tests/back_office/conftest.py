import pytest

from accounts.models import User
from tests.people import Browser, sign_in


@pytest.fixture
def runner(organization, other_api) -> Browser:
    """The browser of who runs the platform, which has two organizations, and who has picked none yet."""
    return sign_in(User.objects.create(email="runner@platform.example", is_superuser=True).email)


def pick(browser: Browser, organization: object) -> None:
    answer = browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    assert answer.status_code == 302
