from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache

from accounts import callers
from connectors import services
from connectors.models import Connector
from connectors.services import claims, unserved
from tests.connectors import feeds
from tests.connectors.feeds import Feed


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    """Return the source that every connector of a test reads."""
    made = Feed()
    feeds.install(monkeypatch, made)
    return made


@pytest.fixture
def connector_of(feed: Feed) -> Callable[..., Connector]:
    """Return a function that makes a connector of an organization."""

    def make(organization: Any, **settings: Any) -> Connector:
        given = {"kind": "directory", "name": "Loans", "config": {}, **settings}
        return services.create_connector(caller=callers.system(organization.pk), **given)

    return make


@pytest.fixture
def connector(organization: Any, connector_of: Callable[..., Connector]) -> Connector:
    return connector_of(organization)


@pytest.fixture(autouse=True)
def _no_test_is_running() -> None:
    cache.clear()


@pytest.fixture(autouse=True)
def _machine(settings: Any, tmp_path: Any) -> None:
    """Forget the connectors that this machine could not read."""
    settings.DATA_DIR = tmp_path
    unserved._pauses.clear()
    claims.forget_order()
