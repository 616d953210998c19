import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import F, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import get_language_info, gettext, ngettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from accounts import selectors as accounts
from accounts.back_office import NextStep, ReadOnlyAdmin, caller
from accounts.roles import Permission
from config import db
from config.errors import NotFound
from config.words import in_words
from custody.back_office.disposal_pages import page_of
from custody.selectors import Disposed
from decisions.models import Decision
from notices import follow_up, selectors, services
from notices.back_office import comparison, review_page
from notices.back_office.actions import ACTIONS
from notices.back_office.editing import Editor
from notices.back_office.formatting import deadline
from notices.back_office.queue import ByLanguage, ByPack, Queue, order
from notices.back_office.refusals import Reason
from notices.forms import ActionForm, ReasonForm
from notices.letter_response import letter_response
from notices.models import Notice, ReviewRequest
from notices.packs import packs
from notices.schemas import LetterQuery

_NUMBER = re.compile("[0-9]{1,18}")
_UNNAMED = _("Look at the notice again: the page did not say which revision it showed.")


@admin.register(Notice)
class NoticeAdmin(ReadOnlyAdmin):
    needed = Permission.READ_DECISIONS
    one, many = _("notice"), _("notices")
    nothing = _("Nothing to do. Notices are drafted on a decision's page.")
    next_step = NextStep(_("Choose a decision"), "admin:decisions_decision_changelist")
    list_display = ("about", "due", "where_it_stands", "pack_and_language", "assigned_to")
    list_display_links = ("about",)
    list_filter = (Queue, ByPack, ByLanguage)
    list_select_related = ("decision__first", "holder__user")
    search_fields = ("decision__decision_id", "decision__subject_reference")
    search_help_text = _("Start of a decision ID or reference (case-sensitive).")
    sortable_by = ()  # any other order would read all rows
    change_list_template = "notices/list.html"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Notice], search_term: str
    ) -> tuple[QuerySet[Notice], bool]:
        term = search_term.strip()
        if not term:
            return queryset, False
        rows = queryset.filter(decision__organization=F("organization"))  # with which its indexes begin
        return rows.filter(Q(decision__decision_id__begins=term) | Q(decision__subject_reference__begins=term)), False

    @admin.display(description=_("decision"))
    def about(self, row: Notice) -> str:
        """Return the decision, with what was decided (in a review, its outcome) and about whom."""
        decision = row.decision
        known = filter(None, (in_words(decision.review_outcome or decision.action), decision.subject_reference))
        return format_html('{}<br><span class="quiet">{}</span>', decision.title, " · ".join(known))

    @admin.display(description=_("state"))
    def where_it_stands(self, row: Notice) -> str:
        """Return the state, with the number of problems that block approval; the review page lists them."""
        tag = format_html('<span class="tag state-{}">{}</span>', row.state, row.get_state_display().lower())
        if not row.problems or row.state not in Notice.EDITABLE:
            return tag
        problems = ngettext("%(count)s problem", "%(count)s problems", row.problems) % {"count": row.problems}
        return format_html('{}<br><span class="quiet">{}</span>', tag, problems)

    @admin.display(description=_("due"))
    def due(self, row: Notice) -> str:
        return deadline(row.due_at) if row.due_at and row.state in Notice.UNSENT else "-"

    @admin.display(description=_("law or policy"))
    def pack_and_language(self, row: Notice) -> str:
        language = get_language_info(row.language)["name"]
        return format_html('{}<br><span class="quiet">{}</span>', row.pack_name, language)

    @admin.display(description=_("assigned to"))
    def assigned_to(self, row: Notice) -> str:
        return row.holder.user.email if row.holder else "-"

    def get_ordering(self, request: HttpRequest) -> Any:
        return order(request)

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
        try:
            return self._shown(request, self._notice(request, object_id))
        except Disposed as gone:
            return page_of(gone)

    def draft(self, request: HttpRequest, decision: str) -> HttpResponse:
        """Draft a notice about a decision of the organization, from a page of the back office.

        The form may name the request for review that a notice about a reconsideration answers.
        """
        writer = caller(request, Permission.DRAFT_NOTICES)
        rows = Decision.objects.for_organization(writer.organization_id).select_related("record", "organization")
        row = get_object_or_404(rows, pk=decision)
        back = redirect("admin:decisions_decision_change", row.pk)
        pack = packs().get(request.POST.get("pack", ""))
        if request.method != "POST":
            return back
        if pack is None:
            messages.error(request, _("Choose a pack to draft under."))
            return back
        with Reason() as reason:
            notice = services.draft(
                caller=writer,
                decision=row,
                pack=pack,
                language=request.POST.get("language", ""),
                recipient={"reference": row.subject_reference} if row.subject_reference else {},
                answers=self._answered(request, row),
            )
            return redirect(_address(notice))
        messages.error(request, reason.sentence)
        return back

    def _answered(self, request: HttpRequest, decision: Decision) -> ReviewRequest | None:
        """Return the request for review that the form names, if the decision answers it."""
        number = request.POST.get("review_request", "")
        rows = follow_up.requests_answered_by(decision)
        return db.only(rows.filter(pk=int(number))) if _NUMBER.fullmatch(number) else None

    def act(self, request: HttpRequest, pk: str, name: str) -> HttpResponse:
        """Run one of ACTIONS. If it is refused, the page keeps the person's input."""
        notice = self._notice(request, pk)
        if name not in ACTIONS:
            raise Http404
        if request.method != "POST":
            return redirect(_address(notice))
        action = ACTIONS[name]
        operator = caller(request, action.permission)
        form = action.new_form(notice, request.POST)
        if not form.is_valid():
            problem = str(_UNNAMED) if "revision" in form.errors else gettext("Not done yet: see the field below.")
            return self._review(request, notice, problem, 422, {name: form})
        with Reason() as reason:
            result, sentence = action.run(notice, operator, form.cleaned_data)
            messages.success(request, str(sentence))
            return redirect(_address(result))
        return self._review(request, notice, reason.sentence, reason.status, {name: form})

    def came_back(self, request: HttpRequest, pk: str, delivery: int) -> HttpResponse:
        notice = self._notice(request, pk)
        row = selectors.delivery(notice, delivery)
        if request.method != "POST":
            return redirect(_address(notice))
        operator = caller(request, Permission.DRAFT_NOTICES)
        form = ReasonForm(request.POST)
        if not form.is_valid():
            return self._review(request, notice, str(form.errors["reason"][0]), 422)
        with Reason() as reason:
            services.record_return(caller=operator, delivery=row, reason=form.cleaned_data["reason"])
            messages.success(request, _("Noted that the letter came back."))
            return redirect(_address(notice))
        return self._review(request, notice, reason.sentence, reason.status)

    def edit(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        writer = caller(request, Permission.DRAFT_NOTICES)
        against = review_page.reason_against_editing(request, notice)
        if request.method != "POST":
            if against:
                return self._shown(request, notice, against)
            return self._editor(request, Editor(notice, page=request.GET.get("page", "")))
        editor = Editor(notice, request.POST, request.POST.get("page", ""))
        if against:
            return self._editor(
                request, editor, gettext("%(reason)s What you typed is not saved.") % {"reason": against}, 409
            )
        if not editor.names_revision:
            return self._editor(request, editor, str(_UNNAMED), 422)
        if not editor.is_valid():
            return self._editor(request, editor, gettext("Nothing is saved yet: see below."), 422)
        with Reason() as reason:
            current = editor.save(writer)
            is_new = current.number != editor.seen
            messages.success(
                request,
                _("Saved as revision %(number)s.") % {"number": current.number}
                if is_new
                else _("Nothing was changed."),
            )
            return redirect(_address(notice))
        return self._editor(request, editor, reason.sentence, reason.status)

    def compare(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        before, after = comparison.chosen(notice, request.GET.get("a", ""), request.GET.get("b", ""))
        return self.page(
            request,
            "notices/compare.html",
            _("Compare revisions of the notice about %(decision)s") % {"decision": _about(notice.decision)},
            notice=notice,
            revisions=comparison.offered(notice, before, after),
            before=before,
            after=after,
            differences=comparison.compare(before, after),
        )

    def letter(self, request: HttpRequest, pk: str) -> HttpResponse:
        notice = self._notice(request, pk)
        try:
            query = LetterQuery.model_validate(request.GET.dict())
        except ValidationError:
            raise Http404 from None
        with Reason() as reason:
            return letter_response(notice, query)
        return self._review(request, notice, reason.sentence, reason.status)

    def _notice(self, request: HttpRequest, pk: Any) -> Notice:
        """Return a notice of the organization. Raises as `get_row`, and Disposed."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        organization = accounts.current_organization(request)
        try:
            if organization:
                return selectors.notice(organization.pk, str(pk))
        except NotFound:
            pass
        raise Http404

    def _review(
        self,
        request: HttpRequest,
        notice: Notice,
        problem: str = "",
        status: int = 409,
        entered: Mapping[str, ActionForm] = MappingProxyType({}),
    ) -> HttpResponse:
        """Return the review page of the notice's state after an action, with a problem and the person's input."""
        return self._shown(request, selectors.notice(notice.organization_id, str(notice.pk)), problem, status, entered)

    def _shown(
        self,
        request: HttpRequest,
        notice: Notice,
        problem: str = "",
        status: int = 409,
        entered: Mapping[str, ActionForm] = MappingProxyType({}),
    ) -> HttpResponse:
        """Return the review page of a notice as it was just read."""
        return self.page(
            request,
            "notices/review.html",
            _("Notice about %(decision)s") % {"decision": _about(notice.decision)},
            status=status if problem else 200,
            refused=problem,
            **review_page.page(request, notice, entered),
        )

    def _editor(self, request: HttpRequest, editor: Editor, problem: str = "", status: int = 200) -> HttpResponse:
        """Return the form with the person's input. If there is a newer revision, the page says so, and saving again
        replaces that revision."""
        seen = editor.seen
        return self.page(
            request,
            "notices/edit.html",
            _("Edit the notice about %(decision)s") % {"decision": _about(editor.notice.decision)},
            status=status,
            notice=editor.notice,
            editor=editor,
            problem=problem,
            overtaken=seen if editor.is_behind() else None,
        )


def _about(decision: Decision) -> str:
    """Return a name for a notice's decision. Operators do not know a reconsideration by its id."""
    first = decision.first
    return _("the review of %(decision)s") % {"decision": first.decision_id} if first else decision.decision_id


def _address(notice: Notice) -> str:
    return reverse("admin:notices_notice_change", args=[notice.pk])
