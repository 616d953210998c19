"""Imports of the service and its libraries, which do not depend on the settings.

None of these modules may read a setting at import: each service has its own settings, see `with_settings`.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from importlib import import_module
from unittest import mock

_SETTINGS = "config.settings"
_MODULES = [
    "celery.app.amqp", "celery.bin.celery", "celery.worker.worker", "config.http.application", "config.startup",
    "config.urls", "django.db.backends.postgresql.base", "granian.cli", "granian.server", "kombu.transport.redis",
    "psycopg_pool", *(f"{app}.tasks" for app in ("accounts", "connectors", "custody", "notices", "retention")),
]  # fmt: skip

with (
    tempfile.TemporaryDirectory() as _directory,
    mock.patch.dict(os.environ, {"DATA_DIR": _directory, "DJANGO_SETTINGS_MODULE": _SETTINGS}, clear=True),
):
    import django
    from django.conf import settings
    from django.db import connections
    from django.utils.functional import empty

    django.setup()
    for _module in _MODULES:
        import_module(_module)
    import_module("notices.packs").packs()


def with_settings(environment: Mapping[str, str]) -> None:
    """Replace the environment of this process, and have it read the settings again at their next use."""
    os.environ.clear()
    os.environ.update({"DJANGO_SETTINGS_MODULE": _SETTINGS, **environment})
    del sys.modules[_SETTINGS]
    settings._wrapped = empty
    vars(connections).clear()
    connections.__init__()  # type: ignore[misc]
