"""No column that holds text is without a line that says what it may hold about persons, and the page says the same."""

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
def test_every_column_that_holds_text_says_what_and_what_becomes_of_it(model):
    assert texts(model) <= set(declared().get(model, {}))


@pytest.mark.parametrize("model", declared(), ids=lambda model: model._meta.label)
def test_no_line_is_about_a_column_that_is_not_there(model):
    assert set(declared()[model]) <= {field.name for field in model._meta.concrete_fields}


def test_whatever_stays_says_why():
    stays = {Fate.KEPT, Fate.AGES, Fate.RARE}
    silent = [
        f"{model._meta.label}.{name}"
        for model, columns in declared().items()
        for name, column in columns.items()
        if column.fate in stays and not column.note
    ]
    assert silent == []


def test_a_row_goes_as_a_whole_or_stays_as_a_whole():
    for model, columns in declared().items():
        fates = {column.fate for column in columns.values()}
        assert Fate.DELETED not in fates or fates == {Fate.DELETED}, model


def test_the_page_is_as_the_code_has_it():
    page = text("docs/personal-data.md")
    assert personal_data.with_table(page) == page, "run `make docs`"
    for model in MODELS:
        for name in texts(model):
            assert model._meta.proxy or f"| `{model._meta.db_table}` | `{name}` |" in page


def test_answers_that_are_kept_are_no_older_than_the_youngest_record_that_is_disposed_of():
    assert timedelta(days=MIN_DAYS) >= LIFETIME
