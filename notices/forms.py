import uuid
from typing import Any

from django import forms

from accounts.models import Member
from notices.models import AuthorityGrant, NoticeSettings, Phrase
from notices.packs import packs
from notices.phrasebook import BadTable, read_table

MAX_TABLE_BYTES = 2**20


def _pack_choices() -> list[tuple[str, str]]:
    return [(pack.id, pack.text(pack.languages[0]).framework) for pack in packs().values()]


class GrantForm(forms.ModelForm):
    """An authority grant to one of the organization's members."""

    member = forms.ModelChoiceField(Member.objects.none())
    packs = forms.MultipleChoiceField(
        choices=_pack_choices, required=False, widget=forms.CheckboxSelectMultiple, help_text="None means all."
    )

    class Meta:
        model = AuthorityGrant
        fields = ["member", "authority", "packs", "valid_from", "valid_to", "evidence"]
        widgets = {
            "valid_from": forms.DateInput(attrs={"type": "date"}),
            "valid_to": forms.DateInput(attrs={"type": "date"}),
            "evidence": forms.Textarea(attrs={"rows": 2}),
        }

    def __init__(self, organization_id: uuid.UUID, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = Member.objects.filter(organization_id=organization_id).select_related("user")
        self.fields["member"].queryset = members.order_by("user__email")  # type: ignore[attr-defined]


class SettingsForm(forms.ModelForm):
    """What an organization's notices are made with; one field for each name that a pack's texts need."""

    default_pack = forms.ChoiceField(choices=_pack_choices)

    class Meta:
        model = NoticeSettings
        fields = ["default_pack", "require_grants", "at_risk_days"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        needed = {name for pack in packs().values() for name in pack.settings} - {"organization"}
        for name in sorted(needed | set(self.instance.placeholders)):
            users = ", ".join(pack.id for pack in packs().values() if name in pack.settings)
            self.fields[f"text_{name}"] = forms.CharField(
                label=name.replace("_", " ").capitalize(),
                required=False,
                initial=self.instance.placeholders.get(name, ""),
                help_text=f"For {users}" if users else "No pack asks for it",
            )

    def placeholders(self) -> dict[str, str]:
        """The names and addresses that were entered. Only for a valid form."""
        told = {name.removeprefix("text_"): v for name, v in self.cleaned_data.items() if name.startswith("text_")}
        return {name: value for name, value in told.items() if value}


class PhraseForm(forms.ModelForm):
    """An organization's words for one code or field."""

    class Meta:
        model = Phrase
        fields = ["language", "key", "sentence", "label", "withheld", "owner", "approved_version"]
        widgets = {"sentence": forms.Textarea(attrs={"rows": 2})}


class PhraseTableForm(forms.Form):
    """A table of phrases as a file."""

    file = forms.FileField(label="CSV file")

    def clean_file(self) -> list[Phrase]:
        file = self.cleaned_data["file"]
        if file.size > MAX_TABLE_BYTES:
            raise forms.ValidationError("The file is larger than 1 MiB. Use the import_phrasebook command.")
        try:
            return read_table(file.read().decode("utf-8-sig").splitlines(keepends=True))
        except UnicodeDecodeError:
            raise forms.ValidationError("The file is not UTF-8 text.") from None
        except BadTable as error:
            raise forms.ValidationError(str(error)) from None
