from typing import Any

from django.core.checks import CheckMessage, Error, register

from notices import packs


@register()
def packs_are_valid(**_: Any) -> list[CheckMessage]:
    """A broken pack stops the start: a notice must not be drafted under half a law."""
    return [Error(problem, id="notices.E001") for problem in packs.problems()]
