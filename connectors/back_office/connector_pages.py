"""Pages on which connectors are created, edited, and tested before anything is saved."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.back_office import ReadOnlyAdmin, caller, form_tokens, refusal
from accounts.roles import Permission
from config.errors import DomainError
from connectors import kinds, services, sources
from connectors.back_office.forms import ConnectorForm
from connectors.models import Connector, Kind

_PAGE = "admin:connectors_connector_change"
_SENT_BEFORE = gettext_lazy("No connector was created: this form was sent already, or is too old.")


class EditingPages(ReadOnlyAdmin):
    """One form for each kind, with buttons that save the entered settings, test them, or preview a record."""

    needed = Permission.MANAGE_CONNECTORS

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("create/", wrap(self.choose_kind), name="choose-connector-kind"),
            path("create/<slug:kind>/", wrap(self.create), name="create-connector"),
            path("<int:pk>/edit/", wrap(self.edit), name="edit-connector"),
            *super().get_urls(),
        ]

    def choose_kind(self, request: HttpRequest) -> HttpResponse:
        return self.page(request, "connectors/kinds.html", _("Create a connector"), kinds=Kind.choices)

    def create(self, request: HttpRequest, kind: str) -> HttpResponse:
        if kind not in kinds.names():
            raise Http404
        if request.method != "POST":
            token = form_tokens.form_token(request)
            return self._shown(request, kind, ConnectorForm(kinds.kind(kind), initial={"form_token": token}))
        who, form = caller(request, self.needed), ConnectorForm(kinds.kind(kind), request.POST)
        if form.is_valid() and "save" in request.POST:
            if not form_tokens.use_token(request, form.cleaned_data["form_token"]):
                messages.error(request, _SENT_BEFORE)
                return self.back_to_list(request)
            made = services.create_connector(
                caller=who,
                kind=kind,
                name=form.cleaned_data["name"],
                schedule_seconds=form.cleaned_data["schedule_seconds"],
                **form.entered,
            )
            return self._saved(request, made)
        return self._shown(request, kind, form)

    def edit(self, request: HttpRequest, pk: int) -> HttpResponse:
        row: Connector = self.get_row(request, pk)
        kind = kinds.kind(row.kind)
        if request.method != "POST":
            return self._shown(request, row.kind, ConnectorForm(kind, connector=row), row)
        who, form = caller(request, self.needed), ConnectorForm(kind, request.POST, connector=row)
        if form.is_valid() and "save" in request.POST:
            changed = services.change_connector(caller=who, connector=row, changes=form.changes(row))
            return self._saved(request, changed)
        return self._shown(request, row.kind, form, row)

    def _saved(self, request: HttpRequest, row: Connector) -> HttpResponse:
        if row.problems:
            messages.warning(request, _("Saved. It is not polled until its problems are fixed."))
        else:
            messages.success(request, _("Saved."))
        return redirect(_PAGE, row.pk)

    def _shown(
        self, request: HttpRequest, kind: str, form: ConnectorForm, row: Connector | None = None
    ) -> HttpResponse:
        result = self._tried(request, kind, form) if form.is_bound and form.is_valid() else {}
        if form.is_bound:
            form.forget_secrets()
        return self.page(
            request,
            "connectors/form.html",
            _("Edit %(row)s") % {"row": row}
            if row
            else _("Create a connector: %(label)s") % {"label": Kind(kind).label},
            status=422 if form.errors else 200,
            form=form,
            kind=Kind(kind).label,
            row=row,
            reason=refusal(request, self.needed),
            **result,
        )

    def _tried(self, request: HttpRequest, kind: str, form: ConnectorForm) -> dict[str, Any]:
        """Return the result of the requested test or preview of the entered settings."""
        if "test" in request.POST:
            return self.tested(request, kind, **form.entered)
        checked, item = sources.check(kind, **form.entered), form.cleaned_data["item"]
        shape = sources.shape(checked.config)
        if not item:
            return {"problems": [_("Enter an item to preview."), *checked.problems]}
        if shape is None:
            return {"problems": checked.problems}
        record = sources.preview(item.encode(), sources.field_map(shape))
        return {"preview": record, "problems": checked.problems}

    def tested(self, request: HttpRequest, kind: str, config: dict[str, Any], secret_ref: str) -> dict[str, Any]:
        """Return the steps of a test, or the reason why none can run now."""
        who = caller(request, self.needed)
        try:
            return {"tested": services.try_source(caller=who, kind=kind, config=config, secret_ref=secret_ref)}
        except DomainError as refused:
            return {"problems": [refused.sentence]}
