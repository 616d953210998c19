"""Trials of settings are limited in number, and a finished one frees its place."""

import threading
import uuid
from concurrent.futures import TimeoutError as TooLate

import pytest

from config import trials
from tests.threads import HANGS_SECONDS


def test_a_caller_may_test_again_right_after_the_answer():
    runs, organization = trials.Trials("a-test"), uuid.uuid4()
    assert [runs.run(organization, lambda: 1, seconds=HANGS_SECONDS) for _ in range(500)] == [1] * 500


def test_a_failed_test_frees_its_place():
    runs, organization = trials.Trials("a-test"), uuid.uuid4()
    for _ in range(5):
        with pytest.raises(ZeroDivisionError):
            runs.run(organization, lambda: 1 / 0, seconds=HANGS_SECONDS)


def test_a_test_that_does_not_return_keeps_its_place():
    runs, organization, let_go = trials.Trials("a-test"), uuid.uuid4(), threading.Event()
    ended = threading.Event()

    def hang() -> None:
        let_go.wait(HANGS_SECONDS)
        ended.set()

    with pytest.raises(TooLate):
        runs.run(organization, hang, seconds=0)
    with pytest.raises(trials.TestsBusy):
        runs.run(organization, lambda: 1, seconds=HANGS_SECONDS)
    let_go.set()
    assert ended.wait(HANGS_SECONDS)
