"""System checks of custody's settings and key files, before the service starts."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from custody.disposal.journal import FOLDER, STORAGE
from custody.models import StorageTarget


@register()
def keys_are_private(**_: Any) -> list[CheckMessage]:
    """Report key files that others on the machine can read: anyone who reads one can sign in this service's name."""
    keys = settings.DATA_DIR / "keys"
    exposed = [path for path in keys.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    return [
        Error(f"The key file {path} can be read by others.", hint=f"Run: chmod 600 {path}", id="custody.E001")
        for path in exposed
    ]


@register()
def vault_is_known(**_: Any) -> list[CheckMessage]:
    known = [str(provider) for provider in StorageTarget.DEPLOYMENTS]
    if settings.CUSTODY_VAULT in known:
        return []
    hint = f"Set CUSTODY_VAULT to one of: {', '.join(known)}."
    return [Error(f"There is no vault named {settings.CUSTODY_VAULT!r}.", hint=hint, id="custody.E002")]


@register()
def journal_is_known(**_: Any) -> list[CheckMessage]:
    """Report a value that is no journal. Taken for a folder, it would give a journal that is missed after a restore."""
    place: str = settings.RETENTION_JOURNAL
    if place in ("", STORAGE) or place.removeprefix(FOLDER) not in ("", place):
        return []
    hint = f"Set RETENTION_JOURNAL to {FOLDER}PATH, to {STORAGE}, or to nothing for no journal."
    return [Error(f"There is no journal {place!r}.", hint=hint, id="custody.E003")]
