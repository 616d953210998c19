"""Selection of the mapping that applies to a record."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from custody.sealing import field_paths
from decisions.mapping.models import Mapping


class Identity(NamedTuple):
    """The marks of a record that select its mapping: the system that wrote it, and the source that it came from."""

    system_name: str
    system_version: str
    source: str


def best(mappings: Iterable[Mapping], identity: Identity, record: dict[str, Any]) -> Mapping | None:
    """Return the mapping of a record: by its system, else by its source, else by one of its fields.

    Of two that fit alike, the older one applies.
    """
    ordered = sorted(mappings, key=lambda mapping: mapping.pk)
    for fits in (_by_system, _by_source, _by_field):
        for mapping in ordered:
            if fits(mapping, identity, record):
                return mapping
    return None


def is_range(text: str) -> bool:
    """Whether a text is a range of versions, such as `>=4,<5` (PEP 440)."""
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True


def _by_system(mapping: Mapping, identity: Identity, record: dict[str, Any]) -> bool:
    if not mapping.system_name or mapping.system_name != identity.system_name:
        return False
    return not mapping.system_versions or _in_range(identity.system_version, mapping.system_versions)


def _in_range(version: str, versions: str) -> bool:
    try:
        return SpecifierSet(versions).contains(Version(version), prereleases=True)
    except InvalidVersion:  # a version that has no order is in no range
        return False


def _by_source(mapping: Mapping, identity: Identity, record: dict[str, Any]) -> bool:
    return bool(mapping.source) and mapping.source == identity.source


def _by_field(mapping: Mapping, identity: Identity, record: dict[str, Any]) -> bool:
    if not mapping.field_path:
        return False
    try:
        value = field_paths.value_at(record, mapping.field_path)
    except field_paths.NoSuchField:
        return False
    return isinstance(value, str) and value == mapping.field_value
