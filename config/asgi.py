"""The service as an ASGI application: the front door, with Django behind it. `config.wsgi` serves the same without."""

import os
import resource
from contextlib import suppress

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()  # sets Django up, so it comes before what imports models

from config import startup  # noqa: E402
from config.http.application import Front  # noqa: E402
from config.http.request_threads import THREADS  # noqa: E402

_MIB = 2**20
_CONNECTIONS = 65_536

# Each connection is a file, and many systems begin with 1,024 of them.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
with suppress(ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_CONNECTIONS, _most), _most))

startup.check()
application = Front(_django, threads=THREADS, waiting=512, strangers=16 * _MIB, senders=128 * _MIB)
startup.calm_garbage_collection()
