"""A count of database statements."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.test.utils import CaptureQueriesContext

from config import changes
from custody.keys import keyrings
from custody.vaults import storage_targets


@contextmanager
def statements() -> Iterator[CaptureQueriesContext]:
    """Capture the statements of a block. Caches that last a second are cleared first: whether the second ends between
    two counts would be chance."""
    changes.forget()
    keyrings.forget()
    storage_targets.forget()
    with CaptureQueriesContext(connection) as captured:
        yield captured
