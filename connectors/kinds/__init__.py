"""Kinds of source that connectors read. Each kind is a package, found by its name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from connectors.formats import Item
from connectors.kinds.base import Batch, Kind, Source, SourceFault, Step

__all__ = ["Batch", "Item", "Kind", "Source", "SourceFault", "Step", "kind", "kinds", "names"]


@cache
def names() -> list[str]:
    """Return the names of all kinds, which are those of their packages."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py"))


def kind(name: str) -> Kind:
    """Return a kind. The first call imports the package and the library of its cloud."""
    package_kind: Kind = import_module(f"{__name__}.{name}").KIND
    return package_kind


def kinds() -> Mapping[str, Kind]:
    """Return every kind by name."""
    return {name: kind(name) for name in names()}
