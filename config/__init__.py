import atexit
import gc
import os

# Every process of the service starts here. Its files are for its own user alone.
os.umask(0o077)
# Imported objects stay: scanning them repeatedly takes a tenth of a start. Later, a record of a hundred fields makes
# thousands of short-lived objects and no cycles.
gc.set_threshold(50_000, 20, 100)
# At exit, scanning all objects several times would take half as long as the start.
atexit.register(gc.freeze)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
