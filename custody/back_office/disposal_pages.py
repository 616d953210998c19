"""Disposals on pages of the back office."""

import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext

from accounts import selectors
from accounts.back_office import ReadOnlyAdmin, copyable_id, time_tag
from config import db
from custody.disposal import disposal_statements
from custody.models import Disposal
from custody.selectors import Disposed


def page_of(disposed: Disposed) -> HttpResponse:
    """Redirect to the page of the disposed record, which shows its disposal."""
    return redirect("admin:custody_entry_change", disposed.disposal.pk)


def disposal_named(request: HttpRequest, record_id: object) -> Disposal | None:
    """Return the disposal of the organization's record with this id, from an address or a search, or None."""
    organization = selectors.current_organization(request)
    try:
        wanted = uuid.UUID(str(record_id))
    except ValueError:
        return None
    if organization is None:
        return None
    return db.only(Disposal.objects.for_organization(organization).select_related("record").filter(pk=wanted))


class OrDisposed(ReadOnlyAdmin):
    """Pages of rows that are removed by a disposal. They then redirect to the record's page, which shows it."""

    def disposal_of(self, request: HttpRequest, pk: object) -> Disposal | None:
        """Return the disposal that removed the row."""
        return disposal_named(request, pk)

    def get_row(self, request: HttpRequest, pk: object) -> Any:
        """Return the row. Raises Disposed if a disposal has removed it."""
        try:
            return super().get_row(request, pk)
        except Http404:
            if disposal := self.disposal_of(request, pk):
                raise Disposed(disposal) from None
            raise


def facts(disposal: Disposal) -> list[tuple[str, str]]:
    """Return a disposal's labels and values for the record's page."""
    labelled = [
        (gettext("disposed of"), time_tag(disposal.disposed_at)),
        (gettext("retention policy"), str(disposal.policy)),
        (gettext("reason"), disposal_statements.order(disposal).reason),
        (gettext("state"), _progress(disposal)),
        (gettext("problem"), disposal.problem),
        (gettext("object locked by its storage until"), time_tag(disposal.kept_until)),
        (gettext("recoverable by the storage's administrator until"), time_tag(disposal.recoverable_until)),
        (gettext("signed with the key"), copyable_id(disposal.key_id) if disposal.key_id else ""),
    ]
    return [(label, value) for label, value in labelled if value]


def _progress(disposal: Disposal) -> str:
    if disposal.finished_at:
        return gettext("finished")
    return gettext("problem") if disposal.problem else gettext("under way")
