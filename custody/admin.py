from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from accounts import selectors
from accounts.back_office import NextStep, ReadOnlyAdmin, TimeRange, caller, moment, refusal, row_url
from accounts.roles import Permission
from custody import record_types, services
from custody import selectors as selectors_of_custody
from custody.back_office import disposal_pages
from custody.back_office.cloud_pages import CloudPages
from custody.back_office.states import damage_of, late, state_of, waiting
from custody.models import Entry, Key, KeyOutage, StorageTarget
from custody.selectors import storage_of
from custody.vaults import storage_targets


class State(admin.SimpleListFilter):
    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("waiting", gettext("Not yet in the vault")),
            ("late", gettext("Not in the vault after a minute")),
            (Entry.State.QUEUED, gettext("Not yet signed")),
            (Entry.State.RESERVED, gettext("Not yet finalised")),
            (Entry.State.STORED, gettext("In the vault")),
            (Entry.State.DISPOSED, gettext("Disposed of")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        if self.value() == "waiting":
            return waiting(queryset)
        if self.value() == "late":
            return late(queryset)
        return queryset.filter(state=self.value()) if self.value() else queryset


@admin.register(Entry)
class EntryAdmin(CloudPages):
    needed = Permission.READ_DECISIONS
    one, many = _("stored record"), _("stored records")
    nothing = _("No record is in custody yet.")
    next_step = NextStep(_("Send a first record"), "docs")
    list_display = ("record_id", "kind", "state", "vault", "received_at")
    list_select_related = ("target",)
    labels = {
        "record_id": _("record ID"), "kind": _("kind"), "state": _("state"),
        "received_at": _("received"), "key_id": _("key ID"),
    }  # fmt: skip
    fields = ("record_id", "kind", "state", "vault", "received_at", "key_id")
    list_filter = (State, ("received_at", TimeRange))
    sortable_by = ("received_at",)
    ordering = ("-received_at", "-pk")
    change_list_template = "custody/entries.html"
    row_template = "custody/entry.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        return super().get_queryset(request).defer("statement", "signature")

    def title(self, row: Entry) -> str:
        return gettext("Stored %(kind)s") % {"kind": row.kind.replace("_", " ")}

    @admin.display(description=_("vault"))
    def vault(self, row: Entry) -> str:
        return row.target.get_provider_display()

    def row_context(self, request: HttpRequest, row: Entry) -> dict[str, Any]:
        page = record_types.get(row.kind).page
        disposed = row.state == Entry.State.DISPOSED
        disposal = selectors_of_custody.disposal_of(row.organization_id, row.pk) if disposed else None
        return {
            "about": row_url(request, page.model, **{page.column: row.pk}),
            "disposal": disposal_pages.facts(disposal) if disposal else None,
        }

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        organization = selectors.current_organization(request)
        custody = {
            "vault": storage_targets.current(organization.pk if organization else None).get_provider_display(),
            "custody": state_of(organization) if organization else None,
            **(damage_of(organization) if organization else {}),
        }
        return super().changelist_view(request, {**custody, **(extra_context or {})})


@admin.register(StorageTarget)
class StorageAdmin(ReadOnlyAdmin):
    """One page: the storage of new records, and former storage that may hold earlier ones."""

    needed = Permission.READ_DECISIONS

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.storage), name="custody_storagetarget_changelist"),
            path("deployment/", wrap(require_POST(self.use_deployments)), name="use-deployment-storage"),
        ]

    def storage(self, request: HttpRequest) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        organization = selectors.current_organization(request)
        if organization is None:
            return redirect("admin:index")
        storage = storage_of(organization.pk)
        return self.page(
            request,
            "custody/storage.html",
            _("Storage"),
            current=storage.current,
            earlier=storage.earlier,
            outage=storage.outage,
            reason=refusal(request, Permission.MANAGE_STORAGE),
        )

    def use_deployments(self, request: HttpRequest) -> HttpResponse:
        services.choose_deployments(caller=caller(request, Permission.MANAGE_STORAGE))
        messages.success(request, _("New records go to the service's own storage. Earlier ones stay where they are."))
        return redirect("admin:custody_storagetarget_changelist")


@admin.register(Key)
class KeyAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    one, many = _("key"), _("keys")
    nothing = _("No key yet. They are made when the first record comes in.")
    next_step = NextStep(_("Send a first record"), "docs")
    list_display = ("purpose", "algorithm", "provider", moment("key_id", _("key ID")), "created_at", "retired_at")
    labels = {
        "purpose": _("purpose"), "algorithm": _("algorithm"), "key_id": _("key ID"), "provider": _("held by"),
        "created_at": _("created"), "retired_at": _("retired"),
    }  # fmt: skip
    fields = ("purpose", "algorithm", "provider", "key_id", "created_at", "retired_at")
    row_template = "custody/key.html"

    def title(self, row: Key) -> str:
        return gettext("%(purpose)s key") % {"purpose": row.get_purpose_display().capitalize()}

    def get_urls(self) -> list[URLPattern]:
        return [
            path("<int:pk>/public/", self.admin_site.admin_view(self.public), name="public-key"),
            *super().get_urls(),
        ]

    def row_context(self, request: HttpRequest, row: Key) -> dict[str, Any]:
        return {"outage": KeyOutage.objects.for_organization(row.organization_id).filter(key=row).first()}

    def public(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Serve the public half of a signing key as a file. Anyone can check receipts with it."""
        key = self.get_row(request, pk)
        if not key.public_pem:
            raise Http404
        name = f'attachment; filename="signing-key-{key.key_id[:16]}.pem"'
        return HttpResponse(key.public_pem, "application/x-pem-file", headers={"Content-Disposition": name})
