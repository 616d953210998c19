"""Bound on the length of names."""

MAX_NAME = 500
"""Characters. A longer key, label or factor is prose. Rules about names compare each of its words with tables, for
thousands of fields below one key."""


def bounded(name: str) -> str:
    """Return a name, or the beginning and the end of a longer one."""
    half = MAX_NAME // 2
    return name if len(name) <= MAX_NAME else f"{name[:half]} {name[-half:]}"
