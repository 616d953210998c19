"""Texts that come from a source."""


def storable(text: str) -> str:
    """What of a text a database can keep: PostgreSQL has room for neither NUL nor half a surrogate pair."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
