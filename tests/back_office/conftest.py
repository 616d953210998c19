import pytest
from django.template import Template
from django.test.utils import instrumented_test_render

from accounts.models import User
from tests.people import Browser, signed_in


@pytest.fixture
def runner(organization, other_api) -> Browser:
    """Return the browser of a platform administrator who has not picked one of the two organizations yet."""
    return signed_in(User.objects.create(email="runner@platform.example", is_superuser=True))


def pick(browser: Browser, organization: object) -> None:
    answer = browser.submit("/admin/", "/account/organization/", organization=str(organization.pk))
    assert answer.status_code == 302


@pytest.fixture(autouse=True)
def _template_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the contexts of templates, which these tests check."""
    monkeypatch.setattr(Template, "_render", instrumented_test_render)
