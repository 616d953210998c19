"""What pages of the back office show of a record that was disposed of."""

import uuid
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import selectors
from accounts.back_office import ReadOnlyAdmin
from config import db
from custody.disposal import disposals
from custody.models import Disposal
from custody.selectors import Disposed


def page_of(disposed: Disposed) -> HttpResponse:
    """To the page of the record that was disposed of, which tells of its disposal."""
    return redirect("admin:custody_entry_change", disposed.disposal.pk)


def disposal_named(request: HttpRequest, record_id: object) -> Disposal | None:
    """The disposal of a record of the operator's organization, if an address or a search names one that has it."""
    organization = selectors.current_organization(request)
    try:
        wanted = uuid.UUID(str(record_id))
    except ValueError:
        return None
    if organization is None:
        return None
    return db.only(Disposal.objects.for_organization(organization).select_related("record").filter(pk=wanted))


class OrDisposed(ReadOnlyAdmin):
    """Pages of what goes when a record is disposed of: then that page of the record is shown which tells of it."""

    def disposal_of(self, request: HttpRequest, pk: object) -> Disposal | None:
        """The disposal with which the row went."""
        return disposal_named(request, pk)

    def get_row(self, request: HttpRequest, pk: object) -> Any:
        """Raises Disposed, and as for all pages."""
        try:
            return super().get_row(request, pk)
        except Http404:
            if disposal := self.disposal_of(request, pk):
                raise Disposed(disposal) from None
            raise


def facts(disposal: Disposal) -> list[tuple[str, str]]:
    """What the page of the record tells of it: labels and values."""
    said = [
        ("disposed of", _time(disposal.disposed_at)),
        ("retention policy", str(disposal.policy)),
        ("reason", disposals.reason(disposal)),
        ("state", disposals.state(disposal)),
        ("problem", disposal.problem),
        ("object locked by its storage until", _time(disposal.kept_until)),
        ("recoverable by whoever runs the storage until", _time(disposal.recoverable_until)),
        ("signed with the key", disposal.key_id),
    ]
    return [(label, value) for label, value in said if value]


def _time(moment: datetime | None) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if moment else ""
