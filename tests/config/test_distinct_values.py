"""Distinct values by an index: all of them, once, without reading each row."""

import pytest

from accounts.models import ApiKey
from accounts.roles import Role
from config.distinct_values import distinct_values

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(organization):
    names = ["b", "", "a", "b", "Ä", "'; --", "a b", "%s", "z" * 50]
    ApiKey.objects.bulk_create(
        ApiKey(organization=organization, key_id=f"{number:016}", name=name, role=Role.SENDER)
        for number, name in enumerate(names * 3)
    )
    return ApiKey.objects.for_organization(organization)


def test_each_value_comes_once_and_empty_ones_are_left_out(rows):
    values = distinct_values(rows, "name", 100)
    assert sorted(values) == sorted({*rows.values_list("name", flat=True)} - {""})
    assert values == [*rows.order_by("name").values_list("name", flat=True).distinct()][1:]


def test_the_limit_counts_values(rows):
    assert distinct_values(rows, "name", 3) == distinct_values(rows, "name", 100)[:3]


def test_no_rows_have_no_values(rows):
    assert distinct_values(rows.none(), "name", 3) == []
    assert distinct_values(rows.filter(name=""), "name", 3) == []
