"""The one bound on how much of a name is read."""

MAX_NAME = 500
"""Characters. A longer key, label or factor is prose: rules about names multiply their words with those of tables, and
a record has thousands of fields below one key."""


def bounded(name: str) -> str:
    """Return a name, or the beginning and the end of a longer one."""
    half = MAX_NAME // 2
    return name if len(name) <= MAX_NAME else f"{name[:half]} {name[-half:]}"
