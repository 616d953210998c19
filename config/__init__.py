import os

# Every process of ours begins here: what it writes is for its own user alone.
os.umask(0o077)

from config.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
