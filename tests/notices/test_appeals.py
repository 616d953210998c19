"""Records that a decision rests on are not disposed of while a person can still appeal."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from custody.disposal import families
from custody.models import Entry
from custody.record_types import Families
from notices.models import Delivery, Notice
from tests.notices.conftest import RECORD, done, drafted, fill_in_names, ingest_sample, stored

pytestmark = pytest.mark.django_db


def obstacles(api, decision_id):
    record_id = api.get(f"/v1/decisions/{decision_id}").json()["record_id"]
    (sentences,) = families.obstacles(Families(api.organization.pk, [Entry.objects.get(pk=record_id).pk])).values()
    return sentences


def delivered(api, decision_id):
    """Store an approved letter about the decision, delivered now."""
    notice = stored(api, drafted(api, decision_id))
    Notice.objects.filter(pk=notice.pk).update(state=Notice.State.DELIVERED)
    now = timezone.now()
    return Delivery.objects.create(notice=notice, channel="hand", handled_at=now, delivered_at=now)


@pytest.fixture
def denial(api):
    fill_in_names(api, "us_health_denial")
    return ingest_sample(api, "synthetic-prior-authorization-03")  # its record gives 65 days


def test_a_record_is_kept_until_its_own_last_day_to_appeal(api, denial):
    until = (delivered(api, denial).delivered_at + timedelta(days=65)).date()
    assert obstacles(api, denial) == [f"The person can appeal until {until.day} {until:%b %Y}."]
    with time_machine.travel(timezone.now() + timedelta(days=64, hours=23)):
        assert len(obstacles(api, denial)) == 1
    with time_machine.travel(timezone.now() + timedelta(days=65, minutes=1)):
        assert obstacles(api, denial) == []


def test_a_record_without_appeal_days_uses_those_of_the_organization(api):
    fill_in_names(api, "us_health_denial")
    done(api.ingest(RECORD))
    delivered(api, "loan-1")
    assert obstacles(api, "loan-1") == ["How long the person can appeal cannot be read from the record."]
    settings = api.get("/v1/notice-settings").json()["placeholders"] | {"appeal_days": "180"}
    body = {"default_pack": "us_health_denial", "placeholders": settings}
    done(api.client.put("/v1/notice-settings", body, content_type="application/json"))
    with time_machine.travel(timezone.now() + timedelta(days=179)):
        assert len(obstacles(api, "loan-1")) == 1
    with time_machine.travel(timezone.now() + timedelta(days=181)):
        assert obstacles(api, "loan-1") == []


def test_a_returned_letter_starts_no_time_to_appeal(api, denial):
    delivery = delivered(api, denial)
    Delivery.objects.filter(pk=delivery.pk).update(returned_at=timezone.now())
    assert obstacles(api, denial) == []


def test_a_letter_without_an_appeal_blocks_no_disposal(api):
    done(api.ingest(RECORD))
    delivered(api, "loan-1")
    assert obstacles(api, "loan-1") == []
