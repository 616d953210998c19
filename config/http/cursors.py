"""Keyset pagination, newest first: page 1,000 is as fast as page 1, and new rows do not shift pages."""

import base64
import json
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from pydantic import Field

from config.errors import Invalid
from config.http.schemas import Answer, QueryString
from config.key_sets import KeySet

Row = TypeVar("Row", bound=Model)
Shown = TypeVar("Shown", bound=Answer)


class Page(QueryString):
    limit: Annotated[int, Field(ge=1, le=200, description="Items a page.")] = 50
    cursor: Annotated[str, Field(max_length=200, description="`next_cursor` of the page before.")] = ""


def paginate(rows: QuerySet[Row], page: Page, *, moment: str, show: type[Shown]) -> Shown:
    """Return one page of `rows` and the cursor of the next, in one query.

    Args:
        moment: the datetime column that orders the rows, newest first; the primary key breaks ties.
        show: the model of the list, with `items` and `next_cursor`.

    Raises:
        Invalid: this service did not issue the cursor.
    """
    position = _decode(page.cursor, rows.model) if page.cursor else None
    fetched = KeySet(rows.order_by(f"-{moment}", "-pk")).after(position, page.limit + 1)
    items = fetched[: page.limit]
    more = len(fetched) > page.limit
    next_cursor = _encode(getattr(items[-1], moment), items[-1].pk) if more else None
    return show.model_validate({"items": items, "next_cursor": next_cursor})


def positions(page: Page, lists: int) -> list[int]:
    """Return where a page starts in each of several lists that share a cursor, 0 for the beginning.

    Each list is ordered by an ascending number.

    Raises:
        Invalid: this service did not issue the cursor.
    """
    if not page.cursor:
        return [0] * lists
    try:
        numbers = json.loads(base64.urlsafe_b64decode(page.cursor + "=" * (-len(page.cursor) % 4)))
        if not isinstance(numbers, list) or len(numbers) != lists or not all(map(_is_position, numbers)):
            raise ValueError("no positions")
    except (ValueError, RecursionError):
        raise _bad_cursor(page.cursor) from None
    return numbers


def cursor_at(*numbers: int) -> str:
    """Return the cursor from which `positions` reads these numbers."""
    return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode().rstrip("=")


def _is_position(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _encode(at: datetime, key: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), str(key)]).encode()).decode().rstrip("=")


def _decode(cursor: str, model: type[Model]) -> tuple[datetime, Any]:
    try:
        at, key = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        field = model._meta.pk
        field = getattr(field, "target_field", field)
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None:
            raise ValueError("no time zone")
        if key is None:
            raise ValueError("no key")
        return moment.astimezone(UTC), field.to_python(key)
    except (ValueError, TypeError, OverflowError, RecursionError, ValidationError):
        raise _bad_cursor(cursor) from None


def _bad_cursor(cursor: str) -> Invalid:
    return Invalid(
        [
            {
                "type": "value_error",
                "loc": ["query", "cursor"],
                "msg": "Value error, not a cursor of this list: use next_cursor of the page before, or none",
                "input": cursor,
            }
        ]
    )
