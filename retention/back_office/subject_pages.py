"""The page that answers a person's access request."""

import tempfile
import zipfile
from collections.abc import Mapping
from contextlib import ExitStack
from shutil import copyfileobj
from typing import IO, Any

from django import forms
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts.back_office import ReadOnlyAdmin, caller, refusal
from accounts.callers import Caller
from accounts.roles import Permission
from custody.record_types import Families
from decisions.models import Decision
from retention import services, subjects
from retention.subjects import MAX_REFERENCE, FamilyRetention

_SHOWN = 50
MAX_DECISIONS = 200
"""Decisions that one request can collect in time."""


class SubjectForm(forms.Form):
    reference = forms.CharField(
        max_length=MAX_REFERENCE,
        strip=False,
        help_text=_("As spelled in subject.reference of records, or in the recipient's reference of notices."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class SubjectPages(ReadOnlyAdmin):
    """Pages that take the reference from a form's body, so that no address, log or history has it."""

    needed = Permission.EXPORT_SUBJECTS

    def get_urls(self) -> list[URLPattern]:
        view = sensitive_post_parameters()(self.admin_site.admin_view(self.subject))
        return [path("subject/", view, name="subject-request")]

    def subject(self, request: HttpRequest) -> HttpResponseBase:
        form = SubjectForm(request.POST if request.method == "POST" else None)
        result: dict[str, Any] = {}
        if form.is_bound:
            who = caller(request, Permission.EXPORT_SUBJECTS)
            if form.is_valid():
                reference = form.cleaned_data["reference"]
                roots = subjects.roots_about(who.organization_id, reference)
                if "download" in request.POST and len(roots) <= MAX_DECISIONS:
                    return _download(who, reference)
                shown = Families(who.organization_id, roots[:_SHOWN])
                result = {
                    "count": len(roots),
                    "rows": _rows(shown),
                    "others": subjects.about_others(Families(who.organization_id, roots), reference),
                    "is_too_much": len(roots) > MAX_DECISIONS,
                }
        return self.page(
            request,
            "retention/subject.html",
            _("Access request"),
            status=422 if form.errors else 200,
            form=form,
            limit=MAX_DECISIONS,
            reason=refusal(request, Permission.EXPORT_SUBJECTS),
            **result,
        )


def _rows(asked: Families) -> list[tuple[Decision, FamilyRetention]]:
    rows = Decision.objects.for_organization(asked.organization_id).in_bulk(list(asked.roots))
    return [(rows[root], retention) for root, retention in subjects.retention_of(asked).items() if root in rows]


def _download(who: Caller, reference: str) -> HttpResponseBase:
    """Return both files in a zip archive, which never has a name in a directory."""
    with tempfile.TemporaryFile() as machine, tempfile.TemporaryFile() as readable:
        services.export_subject(caller=who, reference=reference, machine=machine, readable=readable)
        archive = _archive({"subject.json": machine, "subject.html": readable})
    return FileResponse(
        archive, as_attachment=True, filename="subject.zip", headers={"Cache-Control": "private, no-store"}
    )


def _archive(files: Mapping[str, IO[bytes]]) -> IO[bytes]:
    with ExitStack() as unless_made:
        archive = unless_made.enter_context(tempfile.TemporaryFile())
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, source in files.items():
                source.seek(0)
                with packed.open(name, "w") as target:
                    copyfileobj(source, target)
        archive.seek(0)
        unless_made.pop_all()
    return archive
