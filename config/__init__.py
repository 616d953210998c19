import atexit
import gc
import os

# Every process of ours begins here: what it writes is for its own user alone.
os.umask(0o077)
# What it loads stays, and to look through that again and again takes a tenth of a start. Later, a record of a hundred
# fields makes thousands of short-lived objects and no cycles.
gc.set_threshold(50_000, 20, 100)
# Nor when it ends, where to look through all of it several times takes half as long as the start took.
atexit.register(gc.freeze)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
