"""The kinds of source that connectors read. Each is a package here, and is found by its name."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from connectors.kinds.base import Batch, Item, Kind, Source, SourceFault, Step

__all__ = ["Batch", "Item", "Kind", "Source", "SourceFault", "Step", "kinds"]


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind by its name, which is that of its package."""
    names = sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py"))
    return {name: import_module(f"connectors.kinds.{name}").KIND for name in names}
