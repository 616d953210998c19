"""Pages on which a mapping is proposed from samples, completed, and confirmed."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, caller, form_tokens, refusal
from accounts.callers import Caller
from accounts.roles import Permission
from config import db
from config.distinct_values import distinct_values
from config.errors import DomainError
from decisions.mapping import entry_words, open_proposals, services
from decisions.mapping.back_office import sample_letter
from decisions.mapping.back_office.forms import EntryForm, SamplesField, StartForm
from decisions.mapping.models import MAX_NAME, Mapping, MappingProposal, MappingVersion
from decisions.mapping.version_changes import authors, changes
from decisions.models import Decision
from decisions.record.meanings import Entry

PAGE_SIZE = 25  # fields
_MAX_MAPPINGS = 200  # in the choice of the form
_MAX_SYSTEMS = 100
_MAX_CHARACTERS = 2**19


class SampleForm(forms.Form):
    """A record whose letter the page shows. The page carries it along, and nothing stores it."""

    sample = SamplesField(required=False, max_length=_MAX_CHARACTERS)


class MappingPages(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    editing = Permission.MANAGE_NOTICES

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        private = sensitive_post_parameters()
        return [
            path("propose/", private(wrap(self.propose)), name="propose-mapping"),
            path("proposals/<int:pk>/", private(wrap(self.proposal)), name="mapping-proposal"),
            path("<int:pk>/versions/<int:number>/", wrap(self.version), name="mapping-version"),
            path("<int:pk>/versions/<int:number>/confirm/", wrap(require_POST(self.confirm)), name="confirm-mapping"),
            *super().get_urls(),
        ]

    # ── a proposal ──

    def propose(self, request: HttpRequest) -> HttpResponse:
        """Show the form for samples, and start a proposal from them."""
        editor = caller(request, self.editing)
        mappings = list(self.get_queryset(request).order_by("name", "pk")[:_MAX_MAPPINGS])
        if request.method != "POST":
            initial = {
                "form_token": form_tokens.form_token(request),
                "system_name": request.GET.get("system", "")[:256],
                "mapping": _known(mappings, request.GET),
            }
            return self._start_page(request, editor, StartForm(mappings=mappings, initial=initial))
        form = StartForm(request.POST, request.FILES, mappings=mappings)
        if not form.is_valid():
            return self._start_page(request, editor, form)
        if not form_tokens.use_token(request, form.cleaned_data["form_token"]):
            messages.error(request, _("No proposal was made: this form was sent already, or is too old."))
            return redirect("admin:propose-mapping")
        mapping = next((row for row in mappings if str(row.pk) == form.cleaned_data["mapping"]), None)
        system = form.system or (mapping.system_name if mapping else "")
        try:
            made = open_proposals.start(
                caller=editor,
                name=mapping.name if mapping else system[:MAX_NAME],
                system_name=system,
                languages=form.cleaned_data["languages"],
                mapping=mapping,
                samples=form.cleaned_data["count"],
                records=form.records,
            )
        except DomainError as refused:
            form.add_error("system_name", refused.sentence)
            return self._start_page(request, editor, form)
        return redirect("admin:mapping-proposal", made.pk)

    def _start_page(self, request: HttpRequest, editor: Caller, form: StartForm) -> HttpResponse:
        rows = Decision.with_disposed.for_organization(editor.organization_id)
        systems = distinct_values(rows, "system_name", _MAX_SYSTEMS)
        return self.page(
            request,
            "mappings/propose.html",
            _("Propose a mapping"),
            status=422 if form.errors else 200,
            form=form,
            systems=[(name, proposal_address(name)) for name in systems],
            label=_("Propose"),
        )

    def proposal(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Show the fields of samples with their proposed entries. Save them as a version when the operator says so."""
        row = self._proposal(request, pk)
        if row.rows is None:
            return self._waiting_page(request, row)
        newest = open_proposals.newest_version(row.mapping)
        entries = open_proposals.current(row, newest)
        page = _fields(row, entries).get_page(request.GET.get("page"))
        entered = request.POST if request.method == "POST" else None
        editor = caller(request, self.editing) if entered else None
        listed = _forms(row, page, entries, entered)
        sample = SampleForm(entered)
        wrong = [form for form in listed if form.errors]
        is_valid = not wrong
        if entered and is_valid:
            entries = _with(entries, listed)
        if editor and is_valid and sample.is_valid() and "save" in request.POST:
            try:
                version = open_proposals.save(caller=editor, proposal=row, entries=entries)
            except DomainError as refused:
                messages.error(request, refused.sentence)
            else:
                saved = _("Saved as version %(number)s. It applies once it is confirmed.") % {"number": version.number}
                messages.success(request, saved)
                return redirect(f"{request.path}?page={page.number}")
        return self._proposal_page(request, row, page, (listed, wrong), sample, entries, newest)

    def _proposal_page(
        self,
        request: HttpRequest,
        row: MappingProposal,
        page: Page,
        fields: tuple[Sequence[EntryForm], Sequence[EntryForm]],
        sample: SampleForm,
        entries: Sequence[Entry],
        newest: MappingVersion | None,
    ) -> HttpResponse:
        listed, wrong = fields
        return self.page(
            request,
            "mappings/proposal.html",
            row.name,
            status=422 if wrong or sample.errors else 200,
            proposal=row,
            page=page,
            forms=listed,
            wrong=wrong,
            sample=sample,
            questions=sum(bool(field["question"] and not field["covered_by"]) for field in row.rows or []),
            letter=self._letter(request, row, sample, entries),
            newest=newest if row.is_saved else None,
            refusal=refusal(request, self.editing),
        )

    def _letter(self, request: HttpRequest, row: MappingProposal, sample: SampleForm, entries: Sequence[Entry]) -> Any:
        pasted = sample.cleaned_data["sample"] if sample.is_bound and sample.is_valid() else []
        record = pasted[0] if pasted else open_proposals.newest_sample(row.organization_id, row.system_name)
        return sample_letter(request, record, entries) if record else None

    def _waiting_page(self, request: HttpRequest, row: MappingProposal) -> HttpResponse:
        page = self.page(
            request, "mappings/waiting.html", row.name, proposal=row, has_failed=open_proposals.has_failed(row)
        )
        if not open_proposals.has_failed(row):
            page["Refresh"] = "2"
        return page

    def _proposal(self, request: HttpRequest, pk: int) -> MappingProposal:
        if not self.has_view_permission(request):
            raise PermissionDenied
        organization = accounts.current_organization(request)
        if organization is None:
            raise Http404
        rows = MappingProposal.objects.for_organization(organization).select_related("mapping")
        row = db.only(rows.filter(pk=pk))
        if row is None:
            raise Http404
        return row

    # ── versions ──

    def row_context(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        return {
            "versions": row.versions.order_by("-number").defer("entries")[:50],
            "refusal": refusal(request, self.editing),
        }

    def version(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        mapping, versions = self._versions(request, pk, number)
        version = versions[-1]
        confirmed = next((other for other in reversed(versions[:-1]) if other.confirmed_at), None)
        written = authors(versions)
        reason = refusal(request, self.editing)
        is_newest = not mapping.versions.filter(number__gt=number).exists()
        if not reason:
            reason = services.reason_against_confirming(caller(request, self.editing), versions)
        return self.page(
            request,
            "mappings/version.html",
            _("%(mapping)s, version %(number)s") % {"mapping": mapping.name, "number": number},
            mapping=mapping,
            version=version,
            is_newest=is_newest,
            since=confirmed,
            changes=changes(versions, confirmed),
            entries=[
                (entry["path"], entry_words.description(Entry.model_validate(entry)), written[entry["path"]])
                for entry in version.entries
            ],
            reason=reason,
        )

    def confirm(self, request: HttpRequest, pk: int, number: int) -> HttpResponse:
        who, mapping = caller(request, self.editing), self.get_row(request, pk)
        try:
            version = services.confirm(caller=who, mapping=mapping, number=number)
        except DomainError as refused:
            messages.error(request, refused.sentence)
        else:
            alone = version.is_confirmed_alone
            messages.success(
                request,
                _("Confirmed by its author. Drafts read records by it from now on.")
                if alone
                else _("Confirmed. Drafts read records by it from now on."),
            )
        return redirect("admin:mapping-version", pk, number)

    def _versions(self, request: HttpRequest, pk: int, number: int) -> tuple[Mapping, list[MappingVersion]]:
        """Return a mapping with its versions up to one. Raises Http404."""
        mapping = self.get_row(request, pk)
        versions = list(mapping.versions.filter(number__lte=number).order_by("number"))
        if not versions or versions[-1].number != number:
            raise Http404
        return mapping, versions


def _known(mappings: Sequence[Mapping], query: Any) -> str:
    """Return the mapping that an address names, by its id or by its system, or ""."""
    wanted, system = query.get("mapping", ""), query.get("system", "")
    matching = (row for row in mappings if str(row.pk) == wanted or (system and row.system_name == system))
    return next((str(row.pk) for row in matching), "")


def _fields(proposal: MappingProposal, entries: Sequence[Entry]) -> Paginator:
    """Return the rows of a proposal in pages, and after them the entries of the mapping that no sample has."""
    rows = proposal.rows or []
    known = {row["path"] for row in rows}
    nothing = {"records": 0, "kind": "", "examples": [], "codes": [], "why": "", "question": "", "entry": None}
    others = [{**nothing, "path": entry.path, "covered_by": ""} for entry in entries if entry.path not in known]
    return Paginator([*rows, *others], PAGE_SIZE)


def _forms(proposal: MappingProposal, page: Page, entries: Sequence[Entry], entered: Any) -> list[EntryForm]:
    stand = {entry.path: entry for entry in entries}
    listed = []
    for number, row in enumerate(page.object_list):
        entry = stand.get(row["path"])
        if entry is None and not proposal.is_saved and row["entry"] and not row["covered_by"]:
            entry = Entry.model_validate(row["entry"])
        languages = proposal.languages or ["en"]
        listed.append(EntryForm(entered, row=row, entry=entry, languages=languages, prefix=f"f{number}"))
    return listed


def _with(entries: Sequence[Entry], listed: Sequence[EntryForm]) -> list[Entry]:
    """Return entries with those of valid forms instead, in the order of both."""
    changed = {form.row["path"]: form.made for form in listed}
    merged = {entry.path: entry for entry in entries} | changed
    return [entry for entry in merged.values() if entry]


def proposal_address(system_name: str) -> str:
    """Return the address of the form that proposes entries for a system."""
    return f"{reverse('admin:propose-mapping')}?{urlencode({'system': system_name})}"
