"""After an upgrade, earlier review requests get a known state, and none becomes late at once."""

from datetime import timedelta
from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.roles import Role
from notices import selectors, services
from notices.models import ReviewRequest
from tests.notices.conftest import RECORD, acting, done, send, step
from tests.notices.test_loop import PERSON, offered, states, tell
from tests.notices.test_review_requests import ask, listed, reconsider
from tests.support.kept_rows import make_once

pytestmark = pytest.mark.django_db

upgrade = import_module("notices.migrations.0010_requests_to_be_told")
DAY = timedelta(days=1)


@pytest.fixture
def request_of(api):
    """Store a request as before the upgrade, with its deadline and its age in days from today."""

    def asked(decision_id: str) -> ReviewRequest:
        done(api.ingest({**RECORD, "decision_id": decision_id}))
        return ask(api, offered(api, decision_id, recipient=PERSON))

    def make(*, due_in: int | None = None, age: int = 0) -> ReviewRequest:
        decision_id = f"loan-{ReviewRequest.objects.count()}"
        request = make_once(f"request about {decision_id}", lambda: asked(decision_id))
        now = timezone.now()
        request.received_at = now - age * DAY
        request.due_at = None if due_in is None else now + due_in * DAY
        request.save()
        return request

    return make


def upgraded() -> None:
    ReviewRequest.objects.update(told_at=None, told_by=None)
    upgrade.settle(apps, None)


def answered(api, request: ReviewRequest) -> dict:
    return reconsider(api, request.notice.decision.decision_id)


def test_the_upgrade_keeps_a_delivered_outcome_letter(api, request_of):
    request = request_of(due_in=-40)
    tell(api, answered(api, request))
    request.refresh_from_db()
    before = (request.told_at, request.told_by_id)
    upgraded()
    request.refresh_from_db()
    assert (request.told_at, request.told_by_id) == before
    assert states(api) == ["answered"]


@pytest.mark.parametrize("open_", [{"due_in": 3}, {"due_in": 3, "age": 400}, {"age": 20}])
def test_a_request_still_in_time_waits_for_its_outcome_letter(api, request_of, open_):
    answered(api, request_of(**open_))
    upgraded()
    assert states(api) == ["to_be_told"]


@pytest.mark.parametrize("over", [{"due_in": -1}, {"age": 100}])
def test_an_old_request_is_closed_with_a_reason_that_names_the_unknown(api, request_of, over):
    answered(api, request_of(**over))
    upgraded()
    (row,) = listed(api)
    assert (row["state"], row["closed_by"]) == ("closed", "system upgrade")
    assert "not known here" in row["closed_because"]
    assert not selectors.attention(api.organization.pk).requests.exists()


def test_a_letter_can_still_be_drafted_for_a_request_the_upgrade_closed(api, request_of, signed_in):
    request = request_of(due_in=-1)
    answered(api, request)
    upgraded()
    page = signed_in(Role.EDITOR).get(f"/admin/notices/reviewrequest/{request.pk}/change/").content.decode()
    assert f"Draft the letter for R-{request.pk}" in page


def test_a_withdrawn_or_returned_letter_answers_no_request(api, request_of):
    back, withdrawn = request_of(due_in=3), request_of(due_in=3)
    delivery = tell(api, answered(api, back))
    tell(api, answered(api, withdrawn))
    letters = dict(ReviewRequest.objects.values_list("pk", "told_by"))
    path = f"notices/{letters[back.pk]}/deliveries/{delivery['delivery_id']}/return"
    done(send(api, "POST", path, {"reason": "Moved."}))
    done(step(api, {"notice_id": letters[withdrawn.pk]}, "withdraw"))
    upgraded()
    assert states(api) == ["to_be_told"] * 2


def test_open_and_closed_requests_stay_unchanged(api, request_of):
    request_of(due_in=-40)
    closed = request_of(due_in=-40)
    caller = acting(api.organization, Role.EDITOR, "closer@bank.example")
    services.close_request(caller=caller, request=closed, reason="Taken back.")
    answered(api, closed)
    upgraded()
    assert sorted(states(api)) == ["closed", "open"]
    closed.refresh_from_db()
    assert closed.closed_because == "Taken back."


def test_a_second_run_changes_nothing(api, request_of):
    answered(api, request_of(due_in=-1))
    tell(api, answered(api, request_of(due_in=3)))
    upgraded()
    before = list(ReviewRequest.objects.order_by("pk").values_list())
    upgrade.settle(apps, None)
    assert list(ReviewRequest.objects.order_by("pk").values_list()) == before
