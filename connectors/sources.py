"""Checked settings and opened sources of connectors, for polls and tests."""

import json
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from pydantic import ValidationError

from config import secret_references
from config.errors import DomainError
from config.http.strict_json import InvalidJSON
from connectors import kinds, maps
from connectors.kinds.base import Kind, KindConfig, LedgerEntry, MachineFault, Source
from connectors.maps import FieldMap, Unmapped, record_of
from connectors.secret_names import without_secrets
from custody.sealing.field_paths import PathsTooLong
from decisions import records

_MAX_CONFIG_BYTES = 64 * 2**10
"""Limited because lists of connectors show the settings of each connector."""
_MAX_PROBLEMS = 20
_MAX_PROBLEM = 500
_MESSAGES = {"extra_forbidden": "There is no such setting.", "missing": "This setting is required."}


@dataclass(frozen=True, slots=True)
class Checked:
    """The storable settings, and their problems in sentences. `settings` is None if there are problems."""

    config: dict[str, Any]
    problems: list[str]
    settings: KindConfig | None


def check(kind_name: str, config: dict[str, Any], secret_ref: str) -> Checked:
    """Check settings without asking the source."""
    if kind_name not in kinds.names():
        return Checked({}, ["Connectors of this kind are not part of this installation."], None)
    kind = kinds.kind(kind_name)
    if len(json.dumps(config)) > _MAX_CONFIG_BYTES:
        return Checked({}, ["config: It is larger than 64 KiB, so it was not stored. Send a smaller one."], None)
    stored, dropped = without_secrets(config, kind.Config)
    problems = [_dropped(path, kind) for path in islice(dropped, _MAX_PROBLEMS)]
    if secret_ref and not kind.secret:
        problems.append("This kind of connector takes no secret_ref. Clear it.")
    try:
        settings = kind.Config.model_validate(stored)
    except ValidationError as error:
        return Checked(stored, [*problems, *_sentences(error, dropped)], None)
    problems += [problem[:_MAX_PROBLEM] for problem in kind.check(settings)]
    return Checked(stored, problems, None if problems else settings)


def _dropped(path: tuple[str, ...], kind: Kind) -> str:
    where = ".".join(path)[:128]
    expected = kind.secret.replace("`", "")
    instead = (
        f"Store it as a secret and reference it in secret_ref. Expected: {expected}." if expected else "Remove it."
    )
    return f"config.{where}: this looks like a secret, so it was not stored. {instead}"


def _sentences(error: ValidationError, dropped: Collection[tuple[str, ...]]) -> Iterator[str]:
    """Yield the errors of pydantic without values, except that a dropped setting is missing."""
    for problem in islice(error.errors(include_url=False, include_input=False), _MAX_PROBLEMS):
        if problem["type"] == "missing" and tuple(map(str, problem["loc"])) in dropped:
            continue
        where = ".".join(["config", *(str(step)[:64] for step in problem["loc"])])
        message = _MESSAGES.get(problem["type"]) or f"{problem['msg'].removeprefix('Value error, ')}."
        yield f"{where}: {message}"[:_MAX_PROBLEM]


def open_source(
    settings: KindConfig,
    *,
    secret_ref: str,
    organization_id: uuid.UUID,
    seconds: float,
    unread: Callable[[Sequence[LedgerEntry]], Collection[LedgerEntry]] = set,
    known: Callable[[str], LedgerEntry | None] = lambda name: None,
    digest: Callable[[bytes], str] = bytes.hex,
    batch_items: int = 500,
    was_read: bool = False,
) -> Source[Any]:
    """Return a source to read for so many seconds."""
    source: Source[Any] = Source(
        config=settings,
        secret=lambda: _secret(source, secret_ref),
        organization_id=organization_id,
        deadline=time.monotonic() + seconds,
        unread=unread,
        known=known,
        digest=digest,
        batch_items=batch_items,
        was_read=was_read,
    )
    return source


def _secret(source: Source[Any], reference: str) -> str:
    if not reference:
        return ""
    with source.step("secret", "The secret was found."):
        try:
            return secret_references.resolve(reference, source.organization_id)
        except DomainError as error:
            raise MachineFault(
                "The secret named by secret_ref was not found or is unreadable.",
                fix="Ask the operator of this service to add it on each machine that polls.",
            ) from error


def shape(config: dict[str, Any]) -> KindConfig | None:
    """Return the settings that say how items become records, or None if they are invalid. Others may be missing."""
    try:
        return KindConfig.model_validate({name: config[name] for name in KindConfig.model_fields if name in config})
    except ValidationError:
        return None


def field_map(settings: KindConfig) -> FieldMap | None:
    """Return the map that makes records of items, or None if items are already records."""
    return settings.map or (maps.OPA if settings.format == "opa" else None)


class Preview(NamedTuple):
    """The record that an item becomes."""

    decision_id: str | None
    record: str | None
    """The exact text of the record, or None if none can be made."""
    problems: list[str]


def preview(item: bytes, field_map: FieldMap | None) -> Preview:
    """Return the record that an item would become, and its problems. Nothing is stored."""
    problem, identity = judge(item, field_map)
    try:
        record = record_of(item, field_map) if field_map else item
        text = record.decode()
    except (Unmapped, UnicodeDecodeError):
        text = None
    return Preview(identity or None, text, [problem] if problem else [])


def judge(raw: bytes, field_map: FieldMap | None) -> tuple[str, str]:
    """Return the problem that keeps an item from becoming a record, and the decision_id. One of them is empty."""
    try:
        content = records.parse(record_of(raw, field_map) if field_map else raw)
    except (Unmapped, PathsTooLong) as error:
        return error.sentence, ""
    except InvalidJSON as error:
        return f"Invalid JSON: {error.general}.", ""
    except ValidationError:
        return "It has no usable decision_id.", ""
    return "", records.identity(content)
