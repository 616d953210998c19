"""The service as an ASGI application: the front, with Django behind it. `config.wsgi` serves Django alone."""

import os
import resource
from contextlib import suppress

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_wsgi_application()  # sets Django up, which importing models needs

from config import startup  # noqa: E402
from config.http.application import Front  # noqa: E402
from config.http.request_threads import THREADS  # noqa: E402

_MIB = 2**20
_CONNECTIONS = 65_536

# Each connection is an open file, and many systems allow 1,024 by default.
_, _hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
with suppress(ValueError, OSError):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_CONNECTIONS, _hard_limit), _hard_limit))

startup.check()
application = Front(_django, threads=THREADS, waiting=512, anonymous=16 * _MIB, authenticated=128 * _MIB)
startup.calm_garbage_collection()
