"""The form in which people edit a notice: sentences to add, remove and reorder, each with a source from the record."""

from collections.abc import Iterator, Mapping
from typing import Any

from django import forms

from accounts.callers import Caller
from notices import selectors, services
from notices.back_office.review import SECTIONS
from notices.models import Notice, NoticeRevision
from notices.packs import Pack


class SentenceForm(forms.Form):
    """One sentence and the path of the field behind it."""

    statement = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}))
    source = forms.CharField(
        required=False, widget=forms.TextInput(attrs={"list": "sources", "autocomplete": "off", "spellcheck": "false"})
    )

    def clean_statement(self) -> str:
        return " ".join(self.cleaned_data["statement"].split())


_Sentences = forms.formset_factory(SentenceForm, can_delete=True, can_order=True, extra=1, max_num=2000)


class WordsForm(forms.Form):
    """What a notice says beside its sentences about the record."""

    title = forms.CharField(required=False)
    how_to_request_inputs = forms.CharField(
        label="How to ask for the information", required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    rights = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text="One a line. Texts that the law prescribes have to stay word for word.",
    )
    human_review_available = forms.BooleanField(label="A person will look at it again if asked", required=False)
    how_to_request_review = forms.CharField(
        label="How to ask for a review", required=False, widget=forms.Textarea(attrs={"rows": 2})
    )
    deadline_note = forms.CharField(label="Note about deadlines", required=False)

    def clean_rights(self) -> list[str]:
        return [line.strip() for line in self.cleaned_data["rights"].splitlines() if line.strip()]


class Exemptions(forms.Form):
    """A reason for each element of the checklist that does not apply to this notice."""

    def __init__(self, pack: Pack, language: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        labels = pack.text(language).labels
        for element in pack.elements:
            self.fields[element.id] = forms.CharField(
                label=labels[element.id], required=False, max_length=4000, help_text=element.citation
            )


class Editor:
    """The forms of one notice, filled from a revision or from what was entered.

    Args:
        entered: what a browser sent, or None for a fresh page.
    """

    def __init__(self, notice: Notice, entered: Any = None) -> None:
        self.notice = notice
        self.revision = selectors.current_revision(notice)
        self.entered = entered
        content = self.revision.content
        self.words = WordsForm(entered, initial={**content, "rights": "\n".join(content.get("rights", []))})
        self.exemptions = Exemptions(
            selectors.pack_of(notice), notice.language, entered, initial=self.revision.not_applicable, prefix="exempt"
        )
        self._sections = {name: _Sentences(entered, initial=content.get(name, []), prefix=name) for name in SECTIONS}

    def sections(self) -> Iterator[tuple[str, str, Any]]:
        """Name, label and formset of each section."""
        for name, label in SECTIONS.items():
            yield name, label, self._sections[name]

    @property
    def seen(self) -> int:
        """The revision that the person has before them."""
        told = (self.entered or {}).get("revision", "")
        return int(told) if str(told).isdecimal() else self.revision.number

    def is_valid(self) -> bool:
        forms_of_all: list[Any] = [self.words, self.exemptions, *self._sections.values()]
        return all([form.is_valid() for form in forms_of_all])  # noqa: C419 - each shows its errors

    def save(self, caller: Caller) -> NoticeRevision | None:
        """Make the next revision, or none if nothing was changed. Only for a valid form. Raises as `services.edit`."""
        changes = dict(self.words.cleaned_data)
        for name, sentences in self._sections.items():
            changes[name] = [_item(form.cleaned_data) for form in sentences.ordered_forms if _says(form.cleaned_data)]
        exempt = {element: reason for element, reason in self.exemptions.cleaned_data.items() if reason}
        content = self.revision.content
        if exempt == self.revision.not_applicable and all(content.get(name) == told for name, told in changes.items()):
            return None
        return services.edit(
            notice=self.notice, changes=changes, not_applicable=exempt, revision=self.seen, caller=caller
        )


def _item(cleaned: Mapping[str, Any]) -> dict[str, str]:
    return {"statement": cleaned["statement"], "source": cleaned["source"]}


def _says(cleaned: Mapping[str, Any]) -> bool:
    return bool(cleaned.get("statement") or cleaned.get("source"))
