"""Counting the statements that something asks of the database."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import changes
from custody.keys import keyrings
from custody.vaults import storage_targets


@contextmanager
def statements() -> Iterator[CaptureQueriesContext]:
    """What is asked of the database meanwhile. What a process remembers for a second is asked for each time, for it is
    chance whether the second ends between two counts."""
    changes.forget()
    keyrings.forget()
    storage_targets.forget()
    with CaptureQueriesContext(connection) as captured:
        yield captured
