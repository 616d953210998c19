"""Polls of an HTTP API, end to end: unchanged pages are skipped, and a retry or a reset reads them again."""

import json

import pytest
from django.utils import timezone

from accounts import callers
from connectors import services
from connectors.models import Connector, LedgerRow, PollRun, Quarantined
from connectors.services.connectors import Changes
from decisions.models import Decision
from tests.connectors.kinds.conftest import authority, serve, trusted  # noqa: F401 - fixtures
from tests.support.web_server import Reply, json_reply

pytestmark = pytest.mark.django_db


@pytest.fixture
def items():
    return [{"decision_id": "a"}, {"no": "id"}, {"decision_id": "c"}]


@pytest.fixture
def connector(organization, serve, items):  # noqa: F811 - the fixture
    def answer(request):
        tag = f'"{len(json.dumps(items))}"'
        return Reply(b"", 304) if request.headers.get("If-None-Match") == tag else json_reply(items, ETag=tag)

    config = {"url": f"{serve(answer).url}/records"}
    return services.create_connector(
        caller=callers.system(organization.pk), kind="http_json", name="API", config=config
    )


def poll():
    Connector.objects.update(next_poll_at=timezone.now())
    services.poll_due()
    run = PollRun.objects.order_by("-pk").first()
    assert run.outcome == "finished", run.detail
    return run.seen


def test_a_page_is_taken_again_once_it_changes_or_is_to_be_read_again(connector, items):
    caller = callers.system(connector.organization_id)
    assert (poll(), poll()) == (3, 0)
    assert services.retry_quarantined(caller=caller, connector=connector) == 1
    assert (poll(), poll(), Quarantined.objects.count()) == (3, 0, 1)
    services.change_connector(caller=caller, connector=connector, changes=Changes(reset_cursor=True))
    assert (poll(), LedgerRow.objects.count()) == (3, 1)
    items[1] = {"decision_id": "b, fixed"}
    assert (poll(), Quarantined.objects.count()) == (3, 0)
    assert Decision.objects.count() == 3
    note = LedgerRow.objects.get()
    assert not any(word in f"{note.name} {note.version} {note.note}" for word in ("fixed", "localhost", "records"))
