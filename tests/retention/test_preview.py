"""A preview says what a policy would free now, and what keeps the rest; it reads no further than a person waits."""

from datetime import timedelta

import pytest

from custody import services as custody
from retention import preview as previews
from retention.models import Policy
from retention.preview import preview
from tests.notices.conftest import done, drafted, step
from tests.retention.conftest import NOW, decided, hold_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def families(api, clock):
    """One of each: young, due by 30 days, due by 20 days only, held, kept by a law, unfinished."""
    clock.move_to(NOW - timedelta(days=45))
    for name, days in (("young", 5), ("old", 40), ("newer", 25), ("held", 40), ("kept", 50), ("open", 50)):
        decided(api, name, days)
    done(step(api, drafted(api, "kept", pack="us_ecoa_fcra"), "withdraw"))
    drafted(api, "open", pack="general")
    hold_on(decided(api, "held-too", 60))
    clock.move_to(NOW)
    return api


def shown(api, days, **more):
    return preview(api.organization.pk, Policy(days=days), **more)


def test_it_counts_what_would_go_and_what_keeps_the_others(families):
    found = shown(families, 30)
    assert (found.due, found.newly_due, found.held, found.kept_by_floor, found.with_obstacle) == (2, 2, 1, 1, 1)
    ((floor, count),) = found.by_floor.items()
    assert (floor.source, floor.days, count) == ("us_ecoa_fcra", 762, 1)
    assert dict(found.by_obstacle) == {"A notice about it is neither delivered nor withdrawn.": 1}
    assert not found.is_capped


def test_what_is_due_already_is_not_newly_due(families):
    found = shown(families, 20, instead_of=Policy(days=30))
    assert (found.due, found.newly_due) == (3, 1)
    assert shown(families, 30, instead_of=Policy(days=20)).newly_due == 0


@pytest.mark.once
def test_it_changes_nothing(families, django_assert_num_queries):
    before = [each["decision_id"] for each in families.get("/v1/decisions").json()["items"]]
    shown(families, 1)
    assert [each["decision_id"] for each in families.get("/v1/decisions").json()["items"]] == before


def test_it_looks_at_no_more_than_so_many_and_says_so(families, monkeypatch):
    monkeypatch.setattr(previews, "MAX_FAMILIES", 1)
    monkeypatch.setattr(custody, "BATCH", 1)
    found = shown(families, 30)
    assert found.is_capped
    assert found.due + found.held + found.kept_by_floor + found.with_obstacle == 1


@pytest.mark.once
def test_it_looks_at_one_organization(families, other_api):
    decided(other_api, "theirs", 40)
    assert shown(other_api, 30).due == 1
    assert shown(families, 30).due == 2
