"""A changed sealed object is never shown as the record."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from custody import selectors, vaults
from custody.models import Entry, object_key
from custody.sealing.sealer import Damaged
from custody.vaults import ObjectMissing
from tests.support.unguarded import unguarded

pytestmark = pytest.mark.django_db

RECORD = {"decision_id": "loan-1", "outcome": {"action": "denied"}, "secret": "only-in-custody"}
# The fixtures are created once for all examples, as these tests need.
one_record_for_all = settings(
    deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Shelf:
    """One stored record and its object, to be replaced as an administrator of the storage could."""

    def __init__(self, receipt: dict) -> None:
        self.entry = Entry.objects.get(pk=receipt["record_id"])
        self.key = object_key(self.entry.organization_id, self.entry.pk)
        self.original = vaults.current().get(self.key)

    def replace(self, body: bytes) -> None:
        with unguarded():
            vaults.current().delete(self.key)
        assert vaults.current().put_new(self.key, body)


@pytest.fixture
def shelf(api):
    return Shelf(api.ingest(RECORD).json())


@pytest.fixture
def each_shelf(each_vault, shelf):
    """Run a test with a record in each vault."""
    return shelf


@pytest.mark.once
@one_record_for_all
@given(data=st.data())
def test_any_changed_byte_is_noticed(shelf, data):
    position = data.draw(st.integers(0, len(shelf.original) - 1))
    difference = data.draw(st.integers(1, 255))
    changed = bytearray(shelf.original)
    changed[position] ^= difference
    shelf.replace(bytes(changed))
    with pytest.raises(Damaged):
        selectors.opened(shelf.entry)


@pytest.mark.once
@one_record_for_all
@given(data=st.data())
def test_an_object_cut_short_or_grown_is_noticed(shelf, data):
    end = data.draw(st.integers(0, len(shelf.original) - 1))
    for changed in (shelf.original[:end], shelf.original + shelf.original[end:]):
        shelf.replace(changed)
        with pytest.raises(Damaged):
            selectors.opened(shelf.entry)


@pytest.mark.once
def test_another_record_s_object_in_its_place_is_noticed(shelf, api):
    other = Shelf(api.ingest(RECORD | {"decision_id": "loan-2"}).json())
    shelf.replace(other.original)
    with pytest.raises(Damaged):
        selectors.opened(shelf.entry)


@pytest.mark.once
@pytest.mark.parametrize("column", ["statement", "signature", "key_id"])
def test_a_row_that_differs_from_the_object_is_noticed(shelf, api, column):
    """A database administrator could change the row, which must match the signed statement."""
    other = Shelf(api.ingest(RECORD | {"decision_id": "loan-2"}).json()).entry
    value = "0" * 64 if column == "key_id" else getattr(other, column)
    with unguarded():
        Entry.objects.filter(pk=shelf.entry.pk).update(**{column: value})
    with pytest.raises(Damaged):
        selectors.receipt(Entry.objects.get(pk=shelf.entry.pk))


@pytest.mark.once
@pytest.mark.parametrize("damage", ["changed", "missing"])
def test_a_damaged_record_is_answered_with_an_error_that_repeats_none_of_it(each_shelf, api, damage):
    shelf = each_shelf
    if damage == "changed":
        shelf.replace(shelf.original[:-1] + bytes([shelf.original[-1] ^ 1]))
    else:
        with unguarded():
            vaults.current().delete(shelf.key)
    for path in ("record", "receipt"):
        response = api.get(f"/v1/decisions/loan-1/{path}")
        assert response.status_code == 500, path
        assert set(response.json()) == {"detail"}
        assert "only-in-custody" not in response.content.decode()
        assert "denied" not in response.content.decode()


def test_a_damaged_record_stays_in_lists_and_is_not_created_again(shelf, api):
    shelf.replace(b"DRS1")
    assert api.get("/v1/decisions").json()["items"][0]["decision_id"] == "loan-1"
    assert api.ingest(RECORD | {"secret": "other"}).status_code == 500
    assert api.ingest(RECORD).status_code == 500
    assert Entry.objects.count() == 1


@pytest.mark.once
def test_a_missing_object_is_distinguished_from_a_damaged_one(each_shelf):
    shelf = each_shelf
    with unguarded():
        vaults.current().delete(shelf.key)
    with pytest.raises(ObjectMissing):
        selectors.opened(shelf.entry)


@pytest.mark.once
def test_an_unchanged_object_opens_to_the_bytes_received(shelf):
    assert json.loads(selectors.opened(shelf.entry).payload) == RECORD
