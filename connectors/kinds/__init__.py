"""The kinds of source that connectors read. Each is a package here, and is found by its name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from connectors.formats import Item
from connectors.kinds.base import Batch, Kind, Source, SourceFault, Step

__all__ = ["Batch", "Item", "Kind", "Source", "SourceFault", "Step", "kind", "kinds", "names"]


@cache
def names() -> list[str]:
    """The kinds there are: each name is that of its package."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py"))


def kind(name: str) -> Kind:
    """One kind. It is imported when it is first asked for, and the library of its cloud with it."""
    found: Kind = import_module(f"{__name__}.{name}").KIND
    return found


def kinds() -> Mapping[str, Kind]:
    """Every kind by its name."""
    return {name: kind(name) for name in names()}
