from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.back_office import NextStep, ReadOnlyAdmin, caller, label_of, moment, refusal
from accounts.roles import Permission
from config.http.timestamps import day_in_words
from notices import services
from notices.back_office.refusals import Reason
from notices.forms import GrantForm
from notices.models import AuthorityGrant
from notices.packs import packs


@admin.register(AuthorityGrant)
class AuthorityGrantAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    nothing = _("No authority is granted yet.")
    next_step = NextStep(_("Grant authority"), "admin:grant-authority", Permission.GRANT_AUTHORITY)
    one, many = _("grant"), _("grants")
    list_display = ("person", "authority", "for_packs", "begins", "ends", "giver", moment("revoked_at", _("revoked")))
    list_select_related = ("user",)
    ordering = ("-created_at", "-pk")
    fields = ("user", "authority", "for_packs", "begins", "ends", "evidence", "giver", "created_at", "revoked_at")
    labels = {
        "user": _("user"), "authority": _("authority"), "evidence": _("evidence"), "created_at": _("granted"),
        "revoked_at": _("revoked"),
    }  # fmt: skip
    change_list_template = "notices/grants.html"
    row_template = "notices/grant.html"

    @admin.display(description=_("user"), ordering="user__email")
    def person(self, row: AuthorityGrant) -> str:
        return str(row.user)

    @admin.display(description=_("packs"))
    def for_packs(self, row: AuthorityGrant) -> str:
        return ", ".join(packs()[pack].short_name for pack in row.packs) or gettext("all")

    @admin.display(description=_("valid from"), ordering="valid_from")
    def begins(self, row: AuthorityGrant) -> str:
        return day_in_words(row.valid_from)

    @admin.display(description=_("valid to"), ordering="valid_to")
    def ends(self, row: AuthorityGrant) -> str:
        return day_in_words(row.valid_to) if row.valid_to else "-"

    @admin.display(description=_("granted by"))
    def giver(self, row: AuthorityGrant) -> str:
        return label_of(row.granted_by)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("grant/", wrap(self.grant), name="grant-authority"),
            path("<int:pk>/revoke/", wrap(self.revoke), name="revoke-grant"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"reason": refusal(request, Permission.GRANT_AUTHORITY)})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        context = {"reason": refusal(request, Permission.GRANT_AUTHORITY)}
        return super().change_view(request, object_id, form_url, context)

    def grant(self, request: HttpRequest) -> HttpResponse:
        grantor = caller(request, Permission.GRANT_AUTHORITY)
        form = GrantForm(grantor.organization_id, request.POST or None)
        if form.is_valid():
            with Reason() as reason:
                services.grant_authority(caller=grantor, **form.cleaned_data)
                messages.success(request, _("Granted."))
                return self.back_to_list(request)
            form.add_error(None, reason.sentence)
        status = 422 if form.is_bound else 200
        return self.page(request, "admin/form_page.html", _("Grant authority to approve"), status=status, form=form)

    def revoke(self, request: HttpRequest, pk: int) -> HttpResponse:
        grant = self.get_row(request, pk)
        if request.method == "POST":
            services.revoke_grant(caller=caller(request, Permission.GRANT_AUTHORITY), grant=grant)
            messages.success(request, _("Revoked. Approvals made with it stand."))
        return redirect("admin:notices_authoritygrant_change", pk)
