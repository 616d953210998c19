"""The page on which a request of a person is answered."""

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
from django.views.decorators.debug import sensitive_post_parameters

from accounts.back_office import ReadOnlyAdmin, caller, refusal
from accounts.callers import Caller
from accounts.roles import Permission
from custody.record_types import Families
from decisions.models import Decision
from retention import services, subjects
from retention.subjects import LONGEST_REFERENCE, Kept

_SHOWN = 50
MOST = 200
"""Decisions whose collection a request can wait for."""


class SubjectForm(forms.Form):
    reference = forms.CharField(
        max_length=LONGEST_REFERENCE,
        strip=False,
        help_text="Exactly as records spell it in subject.reference, or notices in the reference of their recipient.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class SubjectPages(ReadOnlyAdmin):
    """The reference is sent in the body of a form, so that no address, log or history has it."""

    needed = Permission.EXPORT_SUBJECTS

    def get_urls(self) -> list[URLPattern]:
        view = sensitive_post_parameters()(self.admin_site.admin_view(self.subject))
        return [path("subject/", view, name="subject-request")]

    def subject(self, request: HttpRequest) -> HttpResponseBase:
        form = SubjectForm(request.POST if request.method == "POST" else None)
        found: dict[str, Any] = {}
        if form.is_bound:
            who = caller(request, Permission.EXPORT_SUBJECTS)
            if form.is_valid():
                reference = form.cleaned_data["reference"]
                roots = subjects.roots_about(who.organization_id, reference)
                if "download" in request.POST and len(roots) <= MOST:
                    return _download(who, reference)
                shown = Families(who.organization_id, roots[:_SHOWN])
                found = {
                    "count": len(roots),
                    "rows": _rows(shown),
                    "others": subjects.about_others(Families(who.organization_id, roots), reference),
                    "is_too_much": len(roots) > MOST,
                }
        return self.page(
            request,
            "retention/subject.html",
            "Access request",
            status=422 if form.errors else 200,
            form=form,
            most=MOST,
            reason=refusal(request, Permission.EXPORT_SUBJECTS),
            **found,
        )


def _rows(asked: Families) -> list[tuple[Decision, Kept]]:
    rows = Decision.objects.for_organization(asked.organization_id).in_bulk(list(asked.roots))
    return [(rows[root], kept) for root, kept in subjects.kept(asked).items() if root in rows]


def _download(who: Caller, reference: str) -> HttpResponseBase:
    """Both files in one, which is never a name in a directory."""
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
