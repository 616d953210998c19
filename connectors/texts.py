"""Texts that come from a source, as a database can keep them."""

import hashlib


def storable(text: str) -> str:
    """Without what PostgreSQL has no room for: NUL, and half a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def identifying(text: str, longest: int) -> str:
    """A text that no other one becomes: what cannot be kept as it is ends in its digest."""
    kept = storable(text)
    if kept == text and len(text) <= longest:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept[: longest - len(digest) - 1]} {digest}"
