"""Environment of a test process. It is a plugin of pytest, because a conftest is imported after the settings."""

import os
import tempfile

_directory = tempfile.TemporaryDirectory(prefix="drs-tests-")
DATA_DIR = os.environ["DATA_DIR"] = _directory.name  # separate for each process
# All tests of a process use one address within a few minutes, so limits are off. Tests of limits set their own.
os.environ["ANONYMOUS_REQUESTS_PER_MINUTE"] = "0"
os.environ["CODES_PER_HOUR"] = os.environ["CODES_PER_HOUR_AND_CLIENT"] = "10000"
# Playwright leaves an event loop running in the thread of a test, but our code there is not asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
