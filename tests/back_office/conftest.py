import pytest
from django.template import Template
from django.test.utils import instrumented_test_render

from accounts.models import User
from tests.people import Browser, signed_in


@pytest.fixture
def runner(organization, other_api) -> Browser:
    """The browser of who runs the platform, which has two organizations, and who has picked none yet."""
    return signed_in(User.objects.create(email="runner@platform.example", is_superuser=True))


def pick(browser: Browser, organization: object) -> None:
    answer = browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    assert answer.status_code == 302


@pytest.fixture(autouse=True)
def _contexts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here tests look at what lists were made of."""
    monkeypatch.setattr(Template, "_render", instrumented_test_render)
