"""The service with an additional path, `/freeze`, that holds the GIL for ever."""

import re

from config.asgi import application as service


async def application(scope, receive, send):
    if scope["type"] == "http" and scope["path"] == "/freeze":
        re.fullmatch("(a+)+b", "a" * 64)
    await service(scope, receive, send)
