"""Declarations of personal data: every text column has one, and the page agrees with them."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.db.models import BinaryField, CharField, FileField, JSONField, TextField

from accounts.idempotency import LIFETIME
from config.personal_data import Fate, declared
from docs import personal_data
from retention.models import MIN_DAYS
from tests.docs.documents import text

_HOLD_TEXT = (CharField, TextField, JSONField, BinaryField, FileField)
MODELS = apps.get_models(include_auto_created=True)


def texts(model):
    return {field.name for field in model._meta.concrete_fields if isinstance(field, _HOLD_TEXT)}


@pytest.mark.parametrize("model", [model for model in MODELS if texts(model)], ids=lambda model: model._meta.label)
def test_every_text_column_is_declared(model):
    assert texts(model) <= set(declared().get(model, {}))


@pytest.mark.parametrize("model", declared(), ids=lambda model: model._meta.label)
def test_every_declared_column_exists(model):
    assert set(declared()[model]) <= {field.name for field in model._meta.concrete_fields}


def test_every_column_that_stays_has_a_reason():
    stays = {Fate.KEPT, Fate.AGES, Fate.RARE}
    silent = [
        f"{model._meta.label}.{name}"
        for model, columns in declared().items()
        for name, column in columns.items()
        if column.fate in stays and not column.note
    ]
    assert silent == []


def test_a_row_is_deleted_or_kept_as_a_whole():
    for model, columns in declared().items():
        fates = {column.fate for column in columns.values()}
        assert Fate.DELETED not in fates or fates == {Fate.DELETED}, model


def test_the_page_agrees_with_the_declarations():
    page = text("docs/personal-data.md")
    assert personal_data.with_table(page) == page, "run `make docs`"
    for model in MODELS:
        for name in texts(model):
            assert model._meta.proxy or f"| `{model._meta.db_table}` | `{name}` |" in page


def test_stored_answers_expire_before_a_record_can_be_disposed_of():
    assert timedelta(days=MIN_DAYS) >= LIFETIME
