"""Settings whose names suggest a secret. They are dropped, because secrets belong behind `secret_ref`."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_SECRET = {
    "apikey", "auth", "authorization", "bearer", "cookie", "cred", "credential", "jwt", "key", "pass", "passphrase",
    "passwd", "password", "pwd", "sas", "secret", "sig", "signature", "token", "accesskey", "accountkey", "secretkey",
}  # fmt: skip
_COMPOUND = re.compile(r"connectionstring|password|passwd|secret|apikey|accesskey|privatekey")

Path = tuple[str, ...]


def without_secrets(settings: Any, model: type[BaseModel] | None) -> tuple[Any, list[Path]]:
    """Return settings without the entries that look like secrets, and the paths of the dropped entries.

    Args:
        model: the declaration of the settings. A name that it declares never counts as a secret.
    """
    dropped: list[Path] = []
    return _clean(settings, [model] if model else [], (), dropped), dropped


def means_secret(name: str) -> bool:
    words = {word.lower() for word in _WORDS.findall(name)}
    words |= {word.removesuffix("s") for word in words}
    return bool(words & _SECRET or _COMPOUND.search(re.sub(r"[^a-z]", "", name.lower())))


def _clean(value: Any, models: list[type[BaseModel]], path: Path, dropped: list[Path]) -> Any:
    if isinstance(value, dict):
        return dict(_storable(value.items(), models, path, dropped))
    if isinstance(value, list):
        return [entry for _, entry in _storable(enumerate(value), models, path, dropped)]
    return value


def _storable(
    entries: Iterable[tuple[Any, Any]], models: list[type[BaseModel]], path: Path, dropped: list[Path]
) -> Iterator[tuple[Any, Any]]:
    """Yield the entries that may be stored, of an object by name or of a list by number."""
    for name, entry in entries:
        inner = (*path, str(name))
        declared = [model.model_fields[name].annotation for model in models if name in model.model_fields]
        means = not declared and means_secret(str(name)) and not _is_harmless(entry, path)
        if means or _carries_credentials(entry):
            dropped.append(inner)
        else:
            below = models if isinstance(name, int) else list(_models(declared))
            yield name, _clean(entry, below, inner, dropped)


def _is_harmless(entry: Any, path: Path) -> bool:
    """Whether the entry is a header with a placeholder for the secret, or a pointer in a field map."""
    if not isinstance(entry, str):
        return False
    return "{secret}" in entry or (path[-2:] == ("map", "fields") and entry.startswith("/"))


def _carries_credentials(entry: Any) -> bool:
    """Whether a text is an address with a password or a signature in it."""
    if not isinstance(entry, str) or "://" not in entry:
        return False
    try:
        parts = urlsplit(entry)
    except ValueError:
        return False
    named = (name for part in (parts.query, parts.fragment) for name, _ in parse_qsl(part))
    return "@" in parts.netloc or any(map(means_secret, named))


def _models(annotations: list[Any]) -> Iterator[type[BaseModel]]:
    for annotation in annotations:
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            yield annotation
        else:
            yield from _models(list(get_args(annotation)))
