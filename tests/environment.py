"""What the service's settings read in a process of tests: a plugin of pytest, for a conftest is read after them."""

import os
import tempfile

_directory = tempfile.TemporaryDirectory(prefix="drs-tests-")
DATA_DIR = os.environ["DATA_DIR"] = _directory.name  # files of this process alone
# All tests of a process come from one address within the same minutes; tests of limits set their own.
os.environ["ANONYMOUS_REQUESTS_PER_MINUTE"] = "0"
os.environ["CODES_PER_HOUR"] = os.environ["CODES_PER_HOUR_AND_CLIENT"] = "10000"
# Playwright leaves an event loop running in the thread of a test; nothing of ours is asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
