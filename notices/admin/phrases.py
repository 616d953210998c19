from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import get_language_info
from django.utils.translation import gettext_lazy as _

from accounts.back_office import AllValues, NextStep, ReadOnlyAdmin, caller, refusal
from accounts.roles import Permission
from notices import services
from notices.back_office.formatting import source_in_words
from notices.forms import PhraseForm, PhraseTableForm
from notices.models import Phrase
from notices.phrasebook_csv import COLUMNS


@admin.register(Phrase)
class PhraseAdmin(ReadOnlyAdmin):
    """The phrasebook. A phrase affects later drafts; existing drafts keep their words."""

    needed = Permission.READ_DECISIONS
    one, many = _("phrase"), _("phrases")
    labels = {"language": _("language"), "owner": _("owner")}
    nothing = _("No phrases yet: drafts use the words of the record and generic sentences.")
    next_step = NextStep(_("Add a phrase"), "admin:put-phrase", Permission.MANAGE_NOTICES)
    list_display = ("named", "language", "words", "owner", "version")
    list_filter = (("language", AllValues), "withheld")
    search_fields = ("key",)
    sortable_by = ()
    ordering = ("key", "language")
    change_list_template = "notices/phrases.html"

    @admin.display(description=_("key"))
    def named(self, row: Phrase) -> str:
        return format_html("<code>{}</code>", row.key)

    @admin.display(description=_("sentence or label"))
    def words(self, row: Phrase) -> str:
        words = row.sentence or row.label
        return format_html('<span class="tag">withheld</span> {}', words) if row.withheld else words

    @admin.display(description=_("version"))
    def version(self, row: Phrase) -> str:
        return row.approved_version or "-"

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("put/", wrap(self.put), name="put-phrase"),
            path("import/", wrap(self.import_table), name="import-phrases"),
            path("<int:pk>/remove/", wrap(self.remove), name="remove-phrase"),
            *super().get_urls(),
        ]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"reason": refusal(request, Permission.MANAGE_NOTICES)})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        locked = bool(refusal(request, Permission.MANAGE_NOTICES))
        return self._form(request, PhraseForm(instance=self.get_row(request, object_id), locked=locked))

    def put(self, request: HttpRequest) -> HttpResponse:
        """Add a phrase, or replace the phrase of the same key and language."""
        editor = caller(request, Permission.MANAGE_NOTICES)
        form = PhraseForm(request.POST or None)
        if not form.is_valid():
            return self._form(request, form)
        services.put_phrases(caller=editor, phrases=[form.save(commit=False)])
        messages.success(request, _("Saved for later drafts."))
        return self.back_to_list(request)

    def import_table(self, request: HttpRequest) -> HttpResponse:
        editor = caller(request, Permission.MANAGE_NOTICES)
        form = PhraseTableForm(request.POST or None, request.FILES or None)
        if form.is_valid():
            count = services.put_phrases(caller=editor, phrases=form.cleaned_data["file"])
            messages.success(request, _("%(count)s phrases taken.") % {"count": count})
            return self.back_to_list(request)
        note = _("A CSV file in UTF-8 with the columns %(columns)s. All lines are taken, or none.") % {
            "columns": ", ".join(COLUMNS)
        }
        status = 422 if form.is_bound else 200
        return self.page(request, "admin/form_page.html", _("Import phrases"), status=status, form=form, intro=note)

    def remove(self, request: HttpRequest, pk: int) -> HttpResponse:
        phrase = self.get_row(request, pk)
        if request.method == "POST":
            services.remove_phrase(caller=caller(request, Permission.MANAGE_NOTICES), phrase=phrase)
            messages.success(request, _("Removed; drafts that exist keep their words."))
        return self.back_to_list(request)

    def _form(self, request: HttpRequest, form: PhraseForm) -> HttpResponse:
        phrase = form.instance if form.instance.pk else None
        return self.page(
            request,
            "notices/phrase.html",
            _title(phrase) if phrase else _("A phrase"),
            status=422 if form.errors else 200,
            form=form,
            phrase=phrase,
            action=reverse("admin:put-phrase"),
            refusal=refusal(request, Permission.MANAGE_NOTICES),
        )


def _title(phrase: Phrase) -> str:
    """Return the key and the language in words."""
    language = get_language_info(phrase.language)["name"]
    return _("%(key)s in %(language)s") % {"key": source_in_words(phrase.key), "language": language}
