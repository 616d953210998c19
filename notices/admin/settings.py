"""Pages without rows of their own, which hang on the list of notices: packs, settings, the report."""

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, caller, refusal
from accounts.roles import Permission
from notices import selectors, services
from notices.back_office import reports
from notices.deadlines import OCCURRENCES
from notices.forms import SettingsForm
from notices.models import NoticeSettings
from notices.packs import Pack, packs
from notices.sensitive import default_list


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
        reason = refusal(request, Permission.MANAGE_NOTICES)
        form = SettingsForm(request.POST or None, instance=selectors.settings_of(organization.pk), locked=bool(reason))
        if request.method == "POST":
            editor = caller(request, Permission.MANAGE_NOTICES)
            if form.is_valid():
                services.change_settings(caller=editor, **form.values())
                messages.success(request, "Saved for later drafts and approvals.")
                return redirect("admin:notices_noticesettings_changelist")
        return self.page(
            request,
            "notices/settings.html",
            "Notice settings",
            status=422 if form.errors else 200,
            form=form,
            reason=reason,
            default_list=default_list(),
        )

    def packs(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        rows = [(pack, _in_force(pack)) for pack in packs().values()]
        return self.page(request, "notices/packs.html", "Packs", packs=rows)

    def pack(self, request: HttpRequest, pack_id: str) -> HttpResponse:
        self._look(request)
        if pack_id not in packs():
            raise Http404
        pack = packs()[pack_id]
        labels = pack.text(pack.languages[0]).labels
        return self.page(
            request,
            "notices/pack.html",
            pack.framework,
            pack=pack,
            in_force=_in_force(pack),
            elements=[(element, labels[element.id]) for element in pack.elements],
            clocks=[(clock, OCCURRENCES[clock.trigger][0].happened) for clock in pack.clocks],
        )

    def report(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        organization = accounts.current_organization(request)
        if organization is None:
            return redirect("admin:index")
        title = "Notices: in time, late, and by whose authority"
        return self.page(request, "notices/report.html", title, **reports.notices(organization))


def _in_force(pack: Pack) -> str:
    """Whether the law is in force today, and since or from when; days are those of UTC."""
    today, begins, ends = timezone.now().date(), pack.effective_from, pack.effective_to
    until = f" until {ends}" if ends else ""
    if pack.legal_status == "policy":
        return f"a policy, no law, from {begins}{until}"
    if today < begins or pack.legal_status == "enacted":
        return f"enacted, in force from {begins}{until}"
    if ends and ends < today:
        return f"not in force any more, from {begins}{until}"
    return f"in force since {begins}{until}"
