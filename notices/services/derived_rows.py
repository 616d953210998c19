"""Storage of rows that are derived from a notice and disposed of with it."""

from collections.abc import Sequence
from typing import Any

import structlog
from django.db import DatabaseError, transaction

from config import db
from notices.models import Notice, StoredCheck, StoredPdf

log = structlog.get_logger("notices")


def store(row: StoredCheck | StoredPdf, *, key: Sequence[str]) -> None:
    """Insert or replace a row, unless another transaction is changing the notice, or disposes or has disposed of it.
    Otherwise erased words could come back.

    Args:
        key: the unique columns.
    """
    notices = Notice.objects.for_organization(row.notice.organization_id).filter(pk=row.notice_id)
    model: Any = type(row)
    columns = [field.name for field in row._meta.concrete_fields if not field.primary_key and field.name not in key]
    try:
        with transaction.atomic():
            if db.only(notices.select_for_update(of=("self",), skip_locked=True).values_list("pk")):
                model.objects.bulk_create([row], update_conflicts=True, unique_fields=key, update_fields=columns)
    except DatabaseError as error:  # the reader still gets an answer
        log.warning("derived row not stored", notice=str(row.notice_id), exc_info=error)
