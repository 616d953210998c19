"""Conversion of texts from a source for storage in the database."""

import hashlib


def storable(text: str) -> str:
    """Remove NUL and replace lone surrogates, which PostgreSQL does not store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def identifying(text: str, longest: int) -> str:
    """Return a storable text that no other text becomes: a changed or cut text ends in its digest."""
    clean = storable(text)
    if clean == text and len(text) <= longest:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{clean[: longest - len(digest) - 1]} {digest}"
