"""Pages without rows, in the section of notices: packs, settings, the report."""

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, caller, periods, refusal
from accounts.roles import Permission
from accounts.services import guards
from config.http.timestamps import day_in_words, minute_in_words
from notices import selectors, services
from notices.back_office import notice_report
from notices.deadlines import OCCURRENCES
from notices.forms import SettingsForm
from notices.models import NoticeSettings
from notices.packs import Pack, packs

_LOOSENS = gettext_lazy(
    "Not loosened yet: %(guard)s. This safeguard ends at %(time)s unless an owner keeps it. Every owner gets an email."
)


@admin.register(NoticeSettings)
class NoticeSettingsAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(self.settings), name="notices_noticesettings_changelist"),
            path("cancel/<slug:guard>/", wrap(self.cancel), name="cancel-loosening"),
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
        row, who = selectors.settings_of(organization.pk), accounts.signed_in_caller(request)
        against_guards = guards.refusal(who) if who else reason
        form = SettingsForm(request.POST or None, instance=row, locked=bool(reason), guards_locked=bool(against_guards))
        waiting = [(loosening, row.GUARDS[loosening.guard]) for loosening in row.waiting()]
        if request.method == "POST":
            editor = caller(request, Permission.MANAGE_NOTICES)
            if form.is_valid():
                try:
                    row = services.change_settings(caller=editor, **form.values())
                except guards.OwnersGuard as refused:
                    form.add_error("default_pack", refused.sentence)
                else:
                    for loosening in row.waiting():
                        ends = minute_in_words(loosening.takes_effect_at)
                        messages.warning(request, _LOOSENS % {"guard": row.GUARDS[loosening.guard], "time": ends})
                    messages.success(request, _("Saved for later drafts and approvals."))
                    return redirect("admin:notices_noticesettings_changelist")
        return self.page(
            request,
            "notices/settings.html",
            _("Notice settings"),
            status=422 if form.errors else 200,
            form=form,
            reason=reason,
            against_guards="" if reason else against_guards,
            waiting=waiting,
        )

    def cancel(self, request: HttpRequest, guard: str) -> HttpResponse:
        """Cancel the loosening of a guard."""
        if request.method != "POST":
            return redirect("admin:notices_noticesettings_changelist")
        owner = caller(request, Permission.MANAGE_NOTICES)
        row = selectors.settings_of(owner.organization_id)
        if guard not in row.loosenings:
            raise Http404
        if reason := guards.refusal(owner):
            raise PermissionDenied(reason)
        services.change_settings(caller=owner, **{guard: getattr(row, guard)})
        messages.success(request, _("Canceled: the safeguard stays."))
        return redirect("admin:notices_noticesettings_changelist")

    def packs(self, request: HttpRequest) -> HttpResponse:
        self._look(request)
        rows = [(pack, _in_force(pack)) for pack in packs().values()]
        return self.page(request, "notices/packs.html", _("Packs"), packs=rows)

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
        period = periods.chosen(request.GET)
        report = notice_report.notices(organization, period.begins)
        shown = {**report, "period": period, "periods": periods.all_periods()}
        return self.page(request, "notices/report.html", _("Notices: timeliness and approvals"), **shown)


def _in_force(pack: Pack) -> str:
    """Say whether the law is in force today, and from which day; days are in UTC."""
    today, ends = timezone.now().date(), pack.effective_to
    days = {"begins": day_in_words(pack.effective_from), "ends": day_in_words(ends) if ends else ""}
    if pack.legal_status == "policy":
        sentence = (
            _("a policy, no law, from %(begins)s until %(ends)s") if ends else _("a policy, no law, from %(begins)s")
        )
    elif today < pack.effective_from or pack.legal_status == "enacted":
        sentence = (
            _("enacted, in force from %(begins)s until %(ends)s") if ends else _("enacted, in force from %(begins)s")
        )
    elif ends and ends < today:
        sentence = _("not in force any more, from %(begins)s until %(ends)s")
    else:
        sentence = _("in force since %(begins)s until %(ends)s") if ends else _("in force since %(begins)s")
    return sentence % days
