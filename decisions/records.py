"""SRF records: their id, and the optional profile that fills the index.

A record is an open JSON object. Only `decision_id` is required, and no key is refused. A profile field of an unexpected
shape stays in the record and is not indexed.
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from django.utils.dateparse import parse_datetime
from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict  # pydantic needs it before Python 3.12

from config.errors import Invalid
from config.http import strict_json
from config.http.strict_json import InvalidJSON, spelling
from config.http.validation import invalid_json, invalid_model
from custody.record_types import Indexing
from custody.rows.new_records import Submission
from custody.sealing.field_paths import PathsTooLong, require_short_paths
from decisions.models import MAX_DECISION_ID, Decision

KIND = "decision"

DecisionId = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_DECISION_ID)]


def _without_nul(decision_id: str) -> str:
    if "\x00" in decision_id:
        raise ValueError("a decision_id cannot contain the character NUL")
    return decision_id


class Identified(TypedDict):
    """A record with a usable `decision_id`, the only required key."""

    decision_id: Annotated[DecisionId, AfterValidator(_without_nul)]


@with_config(ConfigDict(extra="allow"))
class RecordIn(Identified):
    """A record as ingest accepts it."""


_IDENTIFIED = TypeAdapter(Identified)


def parse(raw: bytes) -> dict[str, Any]:
    """Parse a record from its bytes, with numbers as they are spelled.

    Raises:
        InvalidJSON: the bytes are no acceptable JSON.
        pydantic.ValidationError: the record is no object, or has no usable `decision_id`.
        PathsTooLong: the keys above its fields are too long for their number.
    """
    content: dict[str, Any] = strict_json.read(raw, number=spelling, integer=spelling)
    _IDENTIFIED.validate_python(content)
    require_short_paths(raw, content)
    return content


def acceptable(raw: bytes) -> dict[str, Any]:
    """Parse a record from its bytes.

    Raises:
        Invalid: the bytes are no acceptable record.
    """
    if len(raw) > strict_json.MAX_BYTES:
        raise invalid_json(InvalidJSON("the record is larger than 1 MiB", strict_json.MAX_BYTES))
    try:
        return parse(raw)
    except InvalidJSON as error:
        raise invalid_json(error) from None
    except ValidationError as error:
        raise invalid_model(error, "body") from None
    except PathsTooLong as error:
        raise paths_too_long(error, "body") from None


def paths_too_long(error: PathsTooLong, *loc: str) -> Invalid:
    """Return the validation error for a record whose paths are too long."""
    ctx = {"error": error.sentence}
    return Invalid([{"type": "value_error", "loc": [*loc], "msg": f"Value error, {error.sentence}", "ctx": ctx}])


def submission(raw: bytes, source: str) -> Submission:
    """Parse a record into a submission to custody. Raises Invalid."""
    content = acceptable(raw)
    return Submission(KIND, identity(content), raw, content, source)


def identity(content: dict[str, Any]) -> str:
    return str(content["decision_id"])


def index_row(record: Indexing) -> Decision:
    """Return the index row of a record."""
    content = record.content
    return Decision(
        record_id=record.record_id,
        organization_id=record.organization_id,
        decision_id=identity(content),
        kind=record.kind,
        source=record.source,
        received_at=record.received_at,
        decided_at=_moment(content.get("decided_at")),
        action=text(content, "outcome", "action"),
        system_name=text(content, "system", "name"),
        system_version=text(content, "system", "version"),
        subject_reference=text(content, "subject", "reference"),
    )


def text(content: dict[str, Any], group: str, field: str) -> str:
    """Return a profile field without NUL, which PostgreSQL cannot store. Empty if the field is absent, no text, or too
    long for the index."""
    holder = content.get(group)
    value = holder.get(field) if isinstance(holder, dict) else None
    return value.replace("\x00", "") if isinstance(value, str) and len(value) <= 256 else ""


def _moment(value: Any) -> datetime | None:
    """Return an RFC 3339 time in UTC. A time without an offset is ambiguous, so it gives None."""
    try:
        moment = parse_datetime(value) if isinstance(value, str) else None
        return moment.astimezone(UTC) if moment and moment.tzinfo else None
    except (ValueError, OverflowError):  # no such time, or beyond the years 1 to 9999 in UTC
        return None
