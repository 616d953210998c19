"""The service with an additional path, `/hold`, that keeps a thread until DATA_DIR's FIFO `release` is written to."""

import os

from django.conf import settings

from config.asgi import application as service

_django = service.threads.application


def _hold(environ, start_response):
    if environ["PATH_INFO"] == "/hold":
        os.write(1, b"has a thread\n")
        (settings.DATA_DIR / "release").read_bytes()
    return _django(environ, start_response)


service.threads.application = _hold


async def application(scope, receive, send):
    if scope.get("path") == "/hold":
        os.write(1, b"asks\n")
    await service(scope, receive, send)
