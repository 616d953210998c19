"""The form to edit a notice: sentences to add, remove and reorder, each with a source from the record."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.callers import Caller
from config import db
from config.errors import Fault
from notices import selectors, services, warnings
from notices.back_office.review_page import SECTIONS, STATEMENT, spelled
from notices.models import Notice, NoticeRevision
from notices.packs import Pack
from notices.record_paths import MAX_SOURCE, Facts, NoSuchField
from notices.services import stored_checks
from notices.warnings import ApprovalWarning

PAGE_SENTENCES = 500  # of each section on one page; the others stay as they are
_MAX_VALUE = 200  # characters
_MAX_OFFERED = 2000  # fields of the record; a longer list is of no use, and other paths can be typed


class Words(forms.CharField):
    """A text of several lines, with the record's line ends instead of the browser's."""

    def __init__(self, *, rows: int = 2, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": rows, "dir": "auto"}), **options)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class SentenceForm(forms.Form):
    """One sentence and the path of the field behind it. An unchanged sentence keeps its white space."""

    value = ""
    """The value at the source."""
    warnings: Sequence[str] = ()
    """Warnings about the sentence that the approver would have to acknowledge."""

    statement = Words()
    source = forms.CharField(required=False, max_length=MAX_SOURCE)

    def clean_statement(self) -> str:
        before: str = self.initial.get("statement", "")
        statement = " ".join(self.cleaned_data["statement"].split())
        return before if statement == " ".join(before.split()) else statement


_Sentences = forms.formset_factory(SentenceForm, can_delete=True, can_order=True, extra=1, max_num=2000)


class WordsForm(forms.Form):
    """The texts of a notice beside its sentences about the record."""

    title = forms.CharField(required=False, widget=forms.TextInput(attrs={"dir": "auto"}))
    how_to_request_inputs = Words(label=_("How to ask for the information"))
    rights = Words(rows=8, help_text=_("One a line. Texts that the law prescribes have to stay word for word."))
    human_review_available = forms.BooleanField(label=_("A person will look at it again if asked"), required=False)
    how_to_request_review = Words(label=_("How to ask for a review"))
    deadline_note = Words(label=_("Note about deadlines"))

    def clean_rights(self) -> list[str]:
        before: list[str] = self.initial.get("rights", [])
        rights = _lines(self.cleaned_data["rights"])
        return before if rights == _lines("\n".join(before)) else rights

    def get_initial_for_field(self, field: forms.Field, field_name: str) -> Any:
        value = super().get_initial_for_field(field, field_name)
        return "\n".join(value or []) if field_name == "rights" else value


class Exemptions(forms.Form):
    """A reason for each element of the checklist that does not apply to this notice."""

    def __init__(self, pack: Pack, language: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = pack.labels
        for element in pack.elements:
            self.fields[element.id] = forms.CharField(
                label=labels[element.id], required=False, max_length=4000, help_text=element.citation
            )


@dataclass(frozen=True, slots=True)
class SentencePage:
    """Page of the sentences of long sections, from 1. Other pages' sentences stay as they are."""

    number: int
    count: int

    @property
    def begin(self) -> int:
        return (self.number - 1) * PAGE_SENTENCES

    @property
    def end(self) -> int:
        return self.begin + PAGE_SENTENCES

    @property
    def numbers(self) -> range:
        return range(1, self.count + 1)

    def replaced(self, sentences: Sequence[Mapping[str, str]], items: Sequence[Mapping[str, str]]) -> list[Any]:
        """Return a section's sentences with those of this page replaced by `items`."""
        return [*sentences[: self.begin], *items, *sentences[self.end :]]


class Editor:
    """The forms of one notice, filled from a revision or from a browser's input. Long sections take several pages.

    Args:
        entered: the browser's input, or None for a fresh page.
        page: number of the page of sentences, from 1. An unknown number shows the first.
    """

    def __init__(self, notice: Notice, entered: Any = None, page: str = "") -> None:
        self.notice = notice
        self.revision = selectors.current_revision(notice)
        self.seen = _number(entered, "revision") or self.revision.number
        self.opened = _number(entered, "opened") or self.seen
        content = self._opened_content()
        chosen = _page(content, page)
        self.names_revision = entered is None or bool(_number(entered, "revision") and chosen)
        self.page = chosen or SentencePage(1, _page_count(content))
        self.words = WordsForm(entered, initial=dict(content))
        self.exemptions = Exemptions(
            selectors.pack_of(notice), notice.language, entered, initial=self.revision.not_applicable, prefix="exempt"
        )
        self._sentences = {name: content.get(name, []) for name in SECTIONS}
        self._sections = {
            name: _Sentences(entered, initial=sentences[self.page.begin : self.page.end], prefix=name)
            for name, sentences in self._sentences.items()
            if self.page.number == 1 or len(sentences) > self.page.begin
        }
        self._facts = _facts(notice)

    def sections(self) -> Iterator[tuple[str, str, Any]]:
        """Yield name, label and formset of each section. Each form has its `warnings` and the `value` of its source."""
        warned = self._warnings()
        for name, sentences in self._sections.items():
            for position, form in enumerate(sentences, start=self.page.begin):
                form.value = self._value(form["source"].value() or "")
                form.warnings = warned[f"{name}.{position}"]
            yield name, str(SECTIONS[name]), sentences

    def sources(self) -> Iterator[tuple[str, str]]:
        """Yield the record's fields to choose from with their values, except those that letters withhold.

        Yields none if the record cannot be read now.
        """
        if self._facts:
            redaction = selectors.case_of(self.notice, self._facts).redaction
            printable = (fact for fact in self._facts.at("").scalars() if not redaction.covers(fact))
            for _, fact in zip(range(_MAX_OFFERED), printable, strict=False):
                yield self._facts.signed(fact.path), spelled(fact.value)

    def is_behind(self) -> bool:
        """Whether there is a newer revision than the person has seen. If so, the next input is about that revision."""
        self.revision = selectors.current_revision(self.notice)
        behind, self.seen = self.seen != self.revision.number, self.revision.number
        return behind

    def is_valid(self) -> bool:
        forms_of_all: list[Any] = [self.words, self.exemptions, *self._sections.values()]
        return all([form.is_valid() for form in forms_of_all])  # noqa: C419 - each shows its errors

    def save(self, caller: Caller) -> NoticeRevision:
        """Save the valid form as the next revision, or return the `seen` one if nothing changed.

        Raises the errors of `services.edit`.
        """
        changes = dict(self.words.cleaned_data)
        for name, sentences in self._sections.items():
            items = [_item(form.cleaned_data) for form in sentences.ordered_forms if _says(form.cleaned_data)]
            changes[name] = self.page.replaced(self._sentences[name], items)
        exemptions = {element: reason for element, reason in self.exemptions.cleaned_data.items() if reason}
        return services.edit(
            caller=caller, notice=self.notice, changes=changes, not_applicable=exemptions, revision=self.seen
        )

    def _warnings(self) -> Mapping[str, list[str]]:
        """Return the warnings about the form's sentences by place, or none if the record cannot be read now."""
        by_place: dict[str, list[str]] = defaultdict(list)
        for warning in self._listed():
            if warning.id.startswith("blank_statement-"):  # an empty row of the form is not saved
                continue
            by_place[warning.where].append(STATEMENT.sub(gettext("this sentence"), warning.sentence, count=1))
        return by_place

    def _listed(self) -> list[ApprovalWarning]:
        if self._facts is None:
            return []
        if not self.words.is_bound:
            return stored_checks.check(self.notice, self.revision).warnings
        entered = {
            name: self.page.replaced(self._sentences[name], [_entered(form) for form in forms])
            for name, forms in self._sections.items()
        }
        case = selectors.case_of(self.notice, self._facts)
        return warnings.find(case, {**self.revision.content, **entered}, self.revision.not_applicable)

    def _opened_content(self) -> Mapping[str, Any]:
        """Return the content that the person's page was made from. A newer revision may have moved its sentences to
        other pages."""
        is_newer = self.opened != self.revision.number
        older = db.only(self.notice.revisions.filter(number=self.opened)) if is_newer else None
        content: Mapping[str, Any] = (older or self.revision).content
        return content

    def _value(self, source: str) -> str:
        if not source or self._facts is None:
            return ""
        try:
            value = spelled(self._facts.stored(source))
            return value if len(value) <= _MAX_VALUE else f"{value[:_MAX_VALUE]}…"
        except NoSuchField:
            return gettext("leads nowhere in the record")


def _facts(notice: Notice) -> Facts | None:
    try:
        return selectors.facts_for(notice)
    except Fault:
        return None


def _number(entered: Any, name: str) -> int | None:
    """Return the number of a revision that the browser sent."""
    number = (entered or {}).get(name, "")
    return int(number) if re.fullmatch("[0-9]{1,9}", number) else None


def _page(content: Mapping[str, Any], number: str) -> SentencePage | None:
    """Return a page by its number, if it exists. Without a number, return the only page."""
    count = _page_count(content)
    if not number and count == 1:
        number = "1"
    return SentencePage(int(number), count) if number in map(str, range(1, count + 1)) else None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _entered(form: SentenceForm) -> dict[str, str]:
    return {name: form[name].value() or "" for name in ("statement", "source")}


def _item(cleaned: Mapping[str, Any]) -> dict[str, str]:
    return {"statement": cleaned["statement"], "source": cleaned["source"]}


def _says(cleaned: Mapping[str, Any]) -> bool:
    return bool(cleaned.get("statement") or cleaned.get("source"))


def _page_count(content: Mapping[str, Any]) -> int:
    longest = max(len(content.get(name, [])) for name in SECTIONS)
    return max(1, -(-longest // PAGE_SENTENCES))
