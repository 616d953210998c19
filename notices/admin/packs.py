"""Pages without rows of their own, which hang on the list of notices: packs, settings, the report."""

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, caller, refusal
from accounts.roles import Permission
from notices import selectors, services
from notices.back_office import reports
from notices.forms import SettingsForm
from notices.models import NoticeSettings
from notices.packs import packs


@admin.register(NoticeSettings)
class NoticeSettingsAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.settings), name="notices_noticesettings_changelist"),
            path("packs/", wrap(self.packs), name="notice-packs"),
            path("packs/<slug:pack_id>/", wrap(self.pack), name="notice-pack"),
            path("report/", wrap(self.report), name="notice-report"),
        ]

    def _look(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def settings(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        organization = accounts.current_organization(request)
        if organization is None:
            return redirect("admin:index")
        form = SettingsForm(request.POST or None, instance=selectors.settings_of(organization.pk))
        if request.method == "POST":
            who = caller(request, Permission.MANAGE_NOTICES)
            if form.is_valid():
                told = {name: form.cleaned_data[name] for name in form.Meta.fields}
                services.change_settings(caller=who, placeholders=form.placeholders(), **told)
                messages.success(request, "Saved for later drafts and approvals.")
                return redirect("admin:notices_noticesettings_changelist")
        return self.page(
            request,
            "notices/settings.html",
            "Notice settings",
            status=422 if form.errors else 200,
            form=form,
            reason=refusal(request, Permission.MANAGE_NOTICES),
        )

    def packs(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        return self.page(request, "notices/packs.html", "Packs", packs=packs().values())

    def pack(self, request: HttpRequest, pack_id: str) -> HttpResponse:
        self._look(request)
        if pack_id not in packs():
            raise Http404
        pack = packs()[pack_id]
        text = pack.text(pack.languages[0])
        return self.page(request, "notices/pack.html", text.framework, pack=pack, text=text)

    def report(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        organization = accounts.current_organization(request)
        if organization is None:
            return redirect("admin:index")
        title = "Notices: in time, late, and by whose authority"
        return self.page(request, "notices/report.html", title, **reports.notices(organization))
