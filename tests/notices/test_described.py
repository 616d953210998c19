"""The OpenAPI document describes every property that the answers of notices have."""

import pytest

from notices import schemas
from tests.notices.conftest import done, shown, step

pytestmark = pytest.mark.django_db


def test_every_property_of_a_notice_s_answers_is_described(api, approved):
    delivery = done(step(api, approved, "deliveries", {"channel": "post"}))
    history = shown(api, approved, "/history")
    for answer, model in (
        (approved, schemas.NoticeOut),
        (delivery, schemas.DeliveryOut),
        (history, schemas.HistoryOut),
        (history["revisions"][0], schemas.RevisionOut),
        (shown(api, approved, "/checklist"), schemas.ChecklistOut),
        (api.get("/v1/packs").json()["items"][0], schemas.PackOut),
    ):
        assert set(answer) == set(model.model_fields)
