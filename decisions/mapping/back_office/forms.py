"""Forms of mappings: the start of a proposal, and the entry of a field."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, get_args

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from pydantic import ValidationError

from config.http import strict_json
from config.http.strict_json import InvalidJSON
from config.words import in_words
from decisions import records
from decisions.mapping import entry_words
from decisions.mapping.open_proposals import Row
from decisions.mapping.schemas import MAX_SAMPLES
from decisions.record import meanings
from decisions.record.meanings import Entry

_COUNTS = (20, 50, 100, 200, 1000, 10_000)
_MAX_CHARACTERS = 2**19  # a form has 1 MiB
_NEW = ""


def sample_records(text: str) -> list[dict[str, Any]]:
    """Return the records of a text: one JSON object, an array of them, or one a line. Raises forms.ValidationError."""
    try:
        try:
            document = strict_json.read(text.encode(), number=Decimal)
            listed = document if isinstance(document, list) else [document]
        except InvalidJSON:
            if "\n" not in text:
                raise
            lines = [line for line in text.splitlines() if line.strip()]
            listed = [strict_json.read(line.encode(), number=Decimal) for line in lines]
    except InvalidJSON as error:
        raise forms.ValidationError(_("Invalid JSON: %(general)s."), params={"general": error.general}) from None
    if not listed or not all(isinstance(record, dict) for record in listed):
        raise forms.ValidationError(_("Enter records as JSON objects: one, an array of them, or one a line."))
    if len(listed) > MAX_SAMPLES:
        raise forms.ValidationError(_("Enter at most %(limit)s records."), params={"limit": MAX_SAMPLES})
    return listed


class SamplesField(forms.CharField):
    """Sample records as text. Its value is the list of records."""

    widget = forms.Textarea(attrs={"rows": 6, "spellcheck": "false"})

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        return sample_records(text) if text else []


class StartForm(forms.Form):
    """The samples of a proposal: records in custody of a system, or pasted or uploaded ones."""

    form_token = forms.CharField(required=False, widget=forms.HiddenInput)
    mapping = forms.ChoiceField(
        required=False, label=_("Mapping"), help_text=_("Choose the mapping that gets a new version, or a new one.")
    )
    system_name = forms.CharField(
        max_length=256,
        required=False,
        strip=False,
        label=_("System"),
        help_text=_("Enter the system's name as the records do, in system.name."),
    )
    languages = forms.MultipleChoiceField(
        choices=settings.LANGUAGES,
        initial=["en"],
        widget=forms.CheckboxSelectMultiple,
        label=_("Languages of your letters"),
        help_text=_("Choose the languages in which you write words for codes."),
    )
    count = forms.TypedChoiceField(
        coerce=int,
        choices=[(count, f"{count:,}") for count in _COUNTS],
        initial=200,
        label=_("Records in custody to read"),
        help_text=_("Choose more if some codes are rare. Above 200, reading goes on while you wait."),
    )
    pasted = SamplesField(
        required=False,
        max_length=_MAX_CHARACTERS,
        label=_("Sample records as JSON"),
        help_text=_("Enter records to propose from instead of those in custody. They are not stored."),
    )
    file = forms.FileField(
        required=False,
        label=_("File of sample records"),
        help_text=_("Choose a file with JSON, an array of records, or one record a line, of at most 8 MiB."),
    )
    sections = {"count": _("Records in custody"), "pasted": _("Or your own samples")}

    def __init__(self, data: Any = None, files: Any = None, *, mappings: Iterable[Any], **options: Any) -> None:
        super().__init__(data, files, **options)
        choices = [(_NEW, gettext("A new mapping")), *((str(row.pk), row.name) for row in mappings)]
        self.fields["mapping"].choices = choices  # type: ignore[attr-defined]

    def clean_file(self) -> list[dict[str, Any]]:
        file: UploadedFile | None = self.cleaned_data["file"]
        if file is None:
            return []
        if (file.size or 0) > 8 * 2**20:
            raise forms.ValidationError(_("Choose a file of at most 8 MiB."))
        try:
            return sample_records(file.read().decode())
        except UnicodeDecodeError:
            raise forms.ValidationError(_("Choose a file in UTF-8.")) from None

    def clean(self) -> dict[str, Any]:
        if self.errors:
            return self.cleaned_data
        if not self.cleaned_data["mapping"] and not self.system:
            raise forms.ValidationError(_("Enter the name of the system, or choose a mapping."))
        return self.cleaned_data

    @property
    def records(self) -> list[dict[str, Any]]:
        """Return the pasted or uploaded records of a valid form."""
        return self.cleaned_data["file"] or self.cleaned_data["pasted"] or []

    @property
    def system(self) -> str:
        """Return the entered name, or that in the first sample."""
        entered = str(self.cleaned_data.get("system_name") or "")
        return entered or (records.text(self.records[0], "system", "name") if self.records else "")


def _choices(labels: Mapping[str, entry_words.Label], empty: entry_words.Label = "") -> list[tuple[str, Any]]:
    return [("", empty or "---------"), *labels.items()]


_MEANINGS = [
    ("", entry_words.NOT_SAID),
    *((group, list(labels.items())) for group, labels in entry_words.GROUPS.items()),
]
_OUTCOMES = [("", entry_words.NOT_SAID), *((kind, in_words(kind)) for kind in get_args(meanings.OutcomeKind))]
_DEFAULTS = {"notation": "iso", "show": "label"}
"""The options that an entry leaves out."""
_LINE = forms.TextInput(attrs={"autocomplete": "off"})


class EntryForm(forms.Form):
    """The entry of a field: its meaning, and only what this meaning needs."""

    means = forms.ChoiceField(choices=_MEANINGS, required=False, label=_("Meaning"))

    def __init__(
        self, data: Any = None, *, row: Row, entry: Entry | None, languages: Sequence[str], prefix: str
    ) -> None:
        """
        Args:
            row: the row of the proposal.
            entry: the current entry, or None.
            languages: the languages of words for codes and of labels.
        """
        super().__init__(data, prefix=prefix, initial=_initial(entry))
        self.row, self.entry, self.languages = row, entry, languages
        self.made: Entry | None = None
        meaning = str(self.data.get(f"{prefix}-means", "")) if self.is_bound else entry.means if entry else ""
        known = self.entry.values if self.entry and self.entry.means == meaning else {}
        self.codes = list(dict.fromkeys([*row["codes"], *known]))
        self._add_options(meaning)

    @property
    def kind(self) -> entry_words.Label:
        """The type of the field's values in words."""
        return entry_words.KINDS.get(self.row["kind"], "")

    def clean(self) -> dict[str, Any]:
        """Make the entry. What is missing becomes an error of its field."""
        meaning = self.cleaned_data.get("means")
        if meaning and not self.errors:
            entry = self._entered(meaning)
            self._require(meaning, entry)
            if not self.errors:
                try:
                    self.made = Entry.model_validate(entry)
                except ValidationError as error:
                    self._refuse(error)
        return self.cleaned_data

    def _require(self, meaning: str, entry: Mapping[str, Any]) -> None:
        """Add an error for each option that a meaning needs and the entry lacks."""
        for option, needing in meanings.NEEDS.items():
            name = option.strip("_")
            if meaning in needing and not entry.get(name):
                self._complain(name, _("Fill this in: this meaning needs it."))

    def _refuse(self, error: ValidationError) -> None:
        """Add the errors of an entry to their fields."""
        for item in error.errors(include_input=False, include_url=False):
            message = str(item["msg"]).removeprefix("Value error, ").replace("`", "")
            self._complain(str(item["loc"][0]) if item["loc"] else "means", message[:1].upper() + message[1:])

    def _complain(self, name: str, message: Any) -> None:
        labels = {"label": f"label_{self.languages[0]}", "values": "outcome_0"}
        field = labels.get(name, name)
        self.add_error(field if field in self.fields else "means", message)

    def _add_options(self, meaning: str) -> None:
        """Add the fields that a meaning needs or may have."""
        if meaning in meanings.AMOUNTS:
            self._text("currency", _("Currency"), _("Enter a code such as USD, or the field that has it."))
            self._choose(
                "scale", _("The number counts"), {name: entry_words.SCALES[name] for name in ("units", "minor")}
            )
        if meaning in meanings.RATES:
            rates = ("fraction", "percent", "basis_points")
            self._choose("scale", _("The number is"), {name: entry_words.SCALES[name] for name in rates})
        if meaning in meanings.DATES:
            self._choose("notation", _("Days are written"), entry_words.NOTATIONS)
            self._choose("epoch", _("A number counts"), entry_words.EPOCHS)
        if meaning in meanings.TERMS:
            self._choose("unit", _("Unit"), entry_words.UNITS)
        if meaning in ("number", "factor"):
            self._text("unit", _("Unit"), _("Enter the words after the number, if any."))
        if meaning == "factor":
            self._text("value", _("Field of its value"), _("Enter a field beside it, such as .weight."))
            self._text("direction", _("Field of its direction"), _("Enter a field beside it, such as .effect."))
        if meaning == "profile":
            self._text("as", _("Field of the profile"), _("Enter a field such as outcome.score."))
        if meaning == "not_told":
            self._choose("class", _("Because it is"), entry_words.CLASSES)
        if meaning == "input":
            self._choose("show", _("A letter tells"), entry_words.SHOWS)
            for language in self.languages:
                self._text(f"label_{language}", _("Name in letters (%(language)s)") % {"language": language}, "")
        if meaning == "decision" or (meaning in meanings.TEXTS and self.codes):
            self._add_codes(meaning)

    def _add_codes(self, meaning: str) -> None:
        for number, code in enumerate(self.codes):
            if meaning == "decision":
                label = _("What %(code)s decides") % {"code": code}
                self.fields[f"outcome_{number}"] = forms.ChoiceField(choices=_OUTCOMES, required=False, label=label)
            for language in self.languages:
                label = _("Words for %(code)s (%(language)s)") % {"code": code, "language": language}
                self._text(f"words_{number}_{language}", label, "", max_length=2000)
            value = self.entry.values.get(code) if self.entry else None
            if value:
                self.initial[f"outcome_{number}"] = value.outcome
                self.initial.update({f"words_{number}_{name}": text for name, text in value.words.items()})

    def _text(self, name: str, label: entry_words.Label, help_text: entry_words.Label, max_length: int = 256) -> None:
        options: dict[str, Any] = {"label": label, "help_text": help_text}
        self.fields[name] = forms.CharField(required=False, max_length=max_length, widget=_LINE, **options)

    def _choose(self, name: str, label: entry_words.Label, labels: Mapping[str, entry_words.Label]) -> None:
        options: dict[str, Any] = {"label": label, "choices": _choices(labels)}
        self.fields[name] = forms.ChoiceField(required=False, **options)

    def _entered(self, meaning: str) -> dict[str, Any]:
        """Return the entry as a mapping writes it. Options that the form does not show stay as they are."""
        old = self.entry.model_dump(by_alias=True, exclude_unset=True) if self.entry else {}
        entry = old if old.get("means") == meaning else {"path": self.row["path"], "means": meaning}
        before = dict(entry)
        for name in ("currency", "scale", "notation", "epoch", "unit", "value", "direction", "as", "class", "show"):
            if name in self.fields:
                value = self.cleaned_data[name]
                if value and (name in entry or value != _DEFAULTS.get(name)):
                    entry[name] = value
                else:
                    entry.pop(name, None)
        if meaning == "input":
            labels = {name: self.cleaned_data[f"label_{name}"] for name in self.languages}
            entry["label"] = {**entry.get("label", {}), **labels}
            entry["label"] = {name: text for name, text in entry["label"].items() if text}
        if self.codes and (meaning == "decision" or meaning in meanings.TEXTS):
            entry = {**entry, **self._values(entry.pop("values", {}))}
        if entry != before:
            entry = {**entry, "source": "own"}
            entry.pop("why", None)
        return entry

    def _values(self, old: Mapping[str, Any]) -> dict[str, Any]:
        values = {}
        for number, code in enumerate(self.codes):
            value = {"relation": "equivalent", **old.get(code, {})}
            value.pop("outcome", None)
            if outcome := self.cleaned_data.get(f"outcome_{number}"):
                value["outcome"] = outcome
            for language in self.languages:
                value.pop(language, None)
                if text := self.cleaned_data[f"words_{number}_{language}"]:
                    value[language] = text
            if len(value) > 1:
                values[code] = value
        return {"values": values} if values else {}


def _initial(entry: Entry | None) -> dict[str, Any]:
    if entry is None:
        return {}
    shown = entry.model_dump(by_alias=True, exclude={"label", "values"})
    return {**shown, **{f"label_{language}": text for language, text in entry.label.items()}}
