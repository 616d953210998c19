"""Counters survive floods of other addresses, and take bounded space."""

import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core.cache import cache

from accounts import counters, throttling
from accounts.models import RateCounter

pytestmark = pytest.mark.django_db

START = datetime(2030, 1, 1, 12, 0, 20, tzinfo=UTC)
HOUR = 3600
MIB = 2**20


@pytest.fixture(autouse=True)
def _standing_clock() -> Iterator[None]:
    cache.clear()
    with time_machine.travel(START, tick=False):
        yield
    cache.clear()


def flood(networks: range) -> None:
    """Make a request from each of these other networks."""
    for number in networks:
        throttling.admit(f"network:2001:db8:{number // 65536:x}:{number % 65536:x}::/64", 120)


def test_ten_thousand_other_addresses_do_not_reset_a_counter():
    assert [throttling.admit("network:192.0.2.1", 3) for _ in range(4)] == [True] * 3 + [False]
    flood(range(10_000))
    assert not throttling.admit("network:192.0.2.1", 3)


@pytest.mark.once
def test_a_flood_neither_resets_counters_of_codes_nor_grows_memory():
    assert [counters.take("letter", 10, HOUR) for _ in range(11)] == [True] * 10 + [False]
    tracemalloc.start()
    try:
        flood(range(20_000))  # as many as are remembered
        before, _ = tracemalloc.get_traced_memory()
        flood(range(20_000, 22_000))
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < MIB / 2
    assert not counters.take("letter", 10, HOUR)


def test_a_restart_does_not_reset_counters_of_codes():
    assert counters.take("letter", 1, HOUR)
    cache.clear()
    assert not counters.take("letter", 1, HOUR)


def test_a_window_ends_on_the_clock_and_its_counters_are_deleted():
    assert counters.take("letter", 1, HOUR)
    with time_machine.travel(START + timedelta(minutes=59), tick=False):
        assert not counters.take("letter", 1, HOUR)
    with time_machine.travel(START + timedelta(minutes=60), tick=False):
        assert counters.take("letter", 1, HOUR)
    assert RateCounter.objects.count() == 1


def test_a_refused_or_returned_try_does_not_count():
    assert counters.take("letter", 1, HOUR)
    assert not counters.take("letter", 1, HOUR)
    counters.give_back("letter", HOUR)
    assert counters.take("letter", 1, HOUR)
    counters.give_back("another letter", HOUR)


def test_the_database_does_not_say_who_was_counted():
    counters.take("network:192.0.2.1", 1, HOUR)
    assert "192.0.2.1" not in str(list(RateCounter.objects.values()))
