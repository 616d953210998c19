from typing import Any

from django.contrib import admin, messages
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.timesince import timesince, timeuntil
from pydantic import ValidationError

from accounts import selectors as accounts
from accounts.back_office import ReadOnlyAdmin, RecentValues, caller
from accounts.roles import Permission
from config.faults import Fault
from custody import fields
from custody import selectors as custody
from decisions.models import Decision
from notices import selectors, services
from notices.api.delivery import letter_answer
from notices.back_office import comparing, review
from notices.back_office.actions import ACTIONS
from notices.back_office.editing import Editor
from notices.models import Notice
from notices.packs import packs
from notices.schemas import LetterQuery

_Refusals = (services.Refused, services.NotEditable)


class Queue(admin.SimpleListFilter):
    """What is to be done, unless another view of the notices is chosen."""

    title, parameter_name = "queue", "queue"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("overdue", "Overdue"),
            ("at_risk", "Due soon"),
            ("review", "Waiting for review"),
            ("mine", "Mine"),
            ("done", "Done"),
            ("all", "All"),
        ]

    def choices(self, changelist: Any) -> Any:
        first, *others = super().choices(changelist)
        yield {**first, "display": "To do"}
        yield from others

    def queryset(self, request: HttpRequest, rows: QuerySet[Notice]) -> QuerySet[Notice]:
        to_do = rows.filter(state__in=selectors.UNSENT)
        match self.value():
            case "overdue":
                return selectors.overdue(rows)
            case "at_risk":
                organization = accounts.current_organization(request)
                days = selectors.settings_of(organization.pk).at_risk_days if organization else 0
                return selectors.at_risk(rows, days)
            case "review":
                return rows.filter(state=Notice.State.IN_REVIEW)
            case "mine":
                return to_do.filter(holder=accounts.current_member(request))
            case "done":
                return rows.exclude(state__in=selectors.UNSENT)
            case "all":
                return rows
            case _:
                return to_do


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    nothing = "No notices here. They are drafted by POST /v1/decisions/{decision_id}/notices or on a decision's page."
    list_display = ("about", "state", "due", "pack", "language", "held_by", "in_the_way")
    list_display_links = ("about",)
    list_filter = (Queue, "state", ("pack", RecentValues), ("language", RecentValues))
    list_select_related = ("decision", "holder__user")
    search_fields = ("decision__decision_id__startswith", "decision__subject_reference__startswith")
    search_help_text = "How the decision's id, or the person's reference, begins"
    ordering = (F("due_at").asc(nulls_last=True), "-created_at", "-pk")  # type: ignore[assignment]

    @admin.display(description="decision")
    def about(self, row: Notice) -> str:
        return row.decision.decision_id

    @admin.display(description="due", ordering=F("due_at").asc(nulls_last=True))
    def due(self, row: Notice) -> str:
        if row.due_at is None or row.state not in selectors.UNSENT:
            return "-"
        if row.due_at < timezone.now():
            return format_html('<span class="late">{} late</span>', timesince(row.due_at, depth=1))
        return f"in {timeuntil(row.due_at, depth=1)}"

    @admin.display(description="held by")
    def held_by(self, row: Notice) -> str:
        return row.holder.user.email if row.holder else "-"

    @admin.display(description="problems", ordering="problems")
    def in_the_way(self, row: Notice) -> str:
        return str(row.problems) if row.problems and row.state in selectors.UNSENT else "-"

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("draft/<uuid:decision>/", wrap(self.draft), name="draft-notice"),
            path("<uuid:pk>/edit/", wrap(self.edit), name="edit-notice"),
            path("<uuid:pk>/compare/", wrap(self.compare), name="compare-notice"),
            path("<uuid:pk>/letter/", wrap(self.letter), name="notice-letter"),
            path("<uuid:pk>/do/<slug:name>/", wrap(self.act), name="act-on-notice"),
            path("<uuid:pk>/deliveries/<int:delivery>/return/", wrap(self.came_back), name="return-delivery"),
            *super().get_urls(),
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return self._review(request, self._notice(request, object_id))

    def draft(self, request: HttpRequest, decision: str) -> HttpResponse:
        """Draft a notice about a decision of the organization, from its page."""
        who = caller(request, Permission.DRAFT_NOTICES)
        rows = Decision.objects.filter(organization_id=who.organization_id).select_related("record", "organization")
        found = get_object_or_404(rows, pk=decision)
        back = redirect("admin:decisions_decision_change", found.pk)
        pack = packs().get(request.POST.get("pack", ""))
        if request.method != "POST" or pack is None:
            return back
        try:
            made = services.draft(
                decision=found,
                pack=pack,
                language=request.POST.get("language", ""),
                recipient={"reference": found.subject_reference} if found.subject_reference else {},
                caller=who,
            )
        except Fault as fault:
            messages.error(request, fault.sentence)
            return back
        return redirect(_address(made))

    def act(self, request: HttpRequest, pk: str, name: str) -> HttpResponse:
        """Do one of ACTIONS. What was entered stays on the page if it is refused."""
        notice = self._notice(request, pk)
        if name not in ACTIONS:
            raise Http404
        if request.method != "POST":
            return redirect(_address(notice))
        action = ACTIONS[name]
        who = caller(request, action.permission)
        try:
            said = action.run(notice, who, request.POST.dict())
        except _Refusals as refusal:
            return self._review(request, notice, str(refusal))
        except Fault as fault:
            return self._review(request, notice, fault.sentence, fault.status)
        messages.success(request, said)
        return redirect(_address(notice))

    def came_back(self, request: HttpRequest, pk: str, delivery: int) -> HttpResponse:
        notice = self._notice(request, pk)
        row = notice.deliveries.filter(pk=delivery).first()
        if row is None:
            raise Http404
        if request.method != "POST":
            return redirect(_address(notice))
        who = caller(request, Permission.DRAFT_NOTICES)
        try:
            services.record_return(delivery=row, reason=request.POST.get("reason", ""), caller=who)
        except services.Refused as refusal:
            return self._review(request, notice, str(refusal))
        messages.success(request, "Noted that the letter came back.")
        return redirect(_address(notice))

    def edit(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        who = caller(request, Permission.DRAFT_NOTICES)
        reason = review.reason_against_editing(request, notice)
        if reason:
            return self._review(request, notice, reason)
        if request.method != "POST":
            return self._editor(request, notice, Editor(notice))
        editor = Editor(notice, request.POST)
        if not editor.is_valid():
            return self._editor(request, notice, editor, "Something is not right yet; see below.", 422)
        try:
            made = editor.save(who)
        except services.NotEditable as refusal:
            return self._editor(request, notice, editor, str(refusal), 409)
        except Fault as fault:
            return self._editor(request, notice, editor, fault.sentence, fault.status)
        messages.success(request, f"Saved as revision {made.number}." if made else "Nothing was changed.")
        return redirect(_address(notice))

    def compare(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        revisions = {str(row.number): row for row in notice.revisions.order_by("number")}
        last = len(revisions)
        before = revisions.get(request.GET.get("a", ""), revisions[str(max(last - 1, 1))])
        after = revisions.get(request.GET.get("b", ""), revisions[str(last)])
        return self.page(
            request,
            "notices/compare.html",
            f"Compare revisions of the notice about {notice.decision.decision_id}",
            notice=notice,
            revisions=revisions.values(),
            before=before,
            after=after,
            differences=comparing.compare(before, after),
        )

    def letter(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        try:
            query = LetterQuery.model_validate(request.GET.dict())
            letter = selectors.letter(notice)
            if query.format == "proof" and not letter.proof:
                return self._review(request, notice, "There is nothing to prove before the notice is approved.")
            return letter_answer(letter, query)
        except ValidationError:
            raise Http404 from None
        except Fault as fault:
            return self._review(request, notice, fault.sentence, fault.status)

    def _notice(self, request: HttpRequest, pk: Any) -> Notice:
        found = self.found(request, pk)
        return selectors.notice(found.organization_id, str(found.pk))

    def _review(self, request: HttpRequest, notice: Notice, problem: str = "", status: int = 409) -> HttpResponse:
        """The review page, as the notice is now; with what was refused, and with what was entered."""
        fresh = selectors.notice(notice.organization_id, str(notice.pk))
        return self.page(
            request,
            "notices/review.html",
            f"Notice about {notice.decision.decision_id}",
            status=status if problem else 200,
            refused=problem,
            entered=request.POST.dict(),
            **review.page(request, fresh),
        )

    def _editor(
        self, request: HttpRequest, notice: Notice, editor: Editor, problem: str = "", status: int = 200
    ) -> HttpResponse:
        title = f"Edit the notice about {notice.decision.decision_id}"
        return self.page(
            request,
            "notices/edit.html",
            title,
            status=status,
            notice=notice,
            editor=editor,
            problem=problem,
            sources=_sources(notice),
        )


def _address(notice: Notice) -> str:
    return reverse("admin:notices_notice_change", args=[notice.pk])


def _sources(notice: Notice) -> list[fields.Leaf]:
    """The fields of the record to choose a source from; none if it cannot be read now."""
    try:
        return fields.leaves(custody.opened(notice.decision.record).payload)
    except Fault:
        return []
