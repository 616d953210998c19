"""A preview counts the families a policy would dispose of now, and the reasons to keep others, up to a limit."""

from datetime import timedelta

import pytest

from custody import services as custody
from retention import preview as previews
from retention.models import Policy
from retention.preview import preview
from tests.custody.test_record_types import NOT_DELIVERED
from tests.notices.conftest import done, drafted, step
from tests.retention.conftest import NOW, decided, hold_on

pytestmark = pytest.mark.django_db


@pytest.fixture
def families(api, clock):
    """Families that are young, due after 30 days, due only after 20 days, held, kept by a law, and unfinished."""
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


def test_the_preview_counts_due_families_and_the_reasons_to_keep_others(families):
    figures = shown(families, 30)
    assert (figures.due, figures.newly_due, figures.held, figures.kept_by_floor, figures.with_obstacle) == (
        2,
        2,
        1,
        1,
        1,
    )
    ((floor, count),) = figures.by_floor.items()
    assert (floor.source, floor.days, count) == ("us_ecoa_fcra", 762, 1)
    assert dict(figures.by_obstacle) == {NOT_DELIVERED: 1}
    assert not figures.is_capped


def test_families_due_under_the_present_policy_are_not_newly_due(families):
    figures = shown(families, 20, instead_of=Policy(days=30))
    assert (figures.due, figures.newly_due) == (3, 1)
    assert shown(families, 30, instead_of=Policy(days=20)).newly_due == 0


@pytest.mark.once
def test_the_preview_changes_nothing(families, django_assert_num_queries):
    before = [item["decision_id"] for item in families.get("/v1/decisions").json()["items"]]
    shown(families, 1)
    assert [item["decision_id"] for item in families.get("/v1/decisions").json()["items"]] == before


def test_the_preview_stops_at_its_limit_and_says_so(families, monkeypatch):
    monkeypatch.setattr(previews, "MAX_FAMILIES", 1)
    monkeypatch.setattr(custody, "BATCH", 1)
    figures = shown(families, 30)
    assert figures.is_capped
    assert figures.due + figures.held + figures.kept_by_floor + figures.with_obstacle == 1


@pytest.mark.once
def test_the_preview_counts_one_organization(families, other_api):
    decided(other_api, "theirs", 40)
    assert shown(other_api, 30).due == 1
    assert shown(families, 30).due == 2
