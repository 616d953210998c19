import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.models import Member
from config.words import codes_marked
from notices.letters import recipient as recipients
from notices.models import AuthorityGrant, Delivery, Notice, NoticeSettings, Phrase, languages
from notices.packs import packs
from notices.phrasebook_csv import BadTable, read_table
from notices.sensitive import MAX_FIELD_NAME, MAX_FIELD_NAMES, same_names
from notices.warnings import ApprovalWarning

SIGNATORY = ("name", "function", "telephone")


class ActionForm(forms.Form):
    """The form of an action on a notice. It has the revision that the page showed, so that a person cannot decide about
    words they have not seen."""

    revision = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, notice: Notice, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


class HoldForm(ActionForm):
    """The form to assign or release a notice. It repeats the button's wish, because the page may be outdated."""

    take = forms.BooleanField(required=False, widget=forms.HiddenInput)


class _Acknowledged(forms.MultipleChoiceField):
    """Ticks for warnings. The service validates their ids."""

    def valid_value(self, value: str) -> bool:
        return True


class ApprovalForm(ActionForm):
    comment = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    authority = forms.CharField(
        required=False, max_length=256, help_text=_("Default: your authority grant, or your role.")
    )
    acknowledge = _Acknowledged(
        label=_("I have read each of these warnings"), required=False, widget=forms.CheckboxSelectMultiple
    )

    def show(self, warnings: Sequence[ApprovalWarning]) -> None:
        """Offer a tick for each warning."""
        ticks = self.fields["acknowledge"]
        if isinstance(ticks, _Acknowledged) and warnings:
            ticks.choices = [(warning.id, codes_marked(warning.sentence)) for warning in warnings]
        else:
            del self.fields["acknowledge"]


class ChangesForm(ActionForm):
    reason = forms.CharField(
        label=_("What needs to change?"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": _("Say what has to be changed.")},
    )


class WithdrawalForm(ActionForm):
    reason = forms.CharField(
        label=_("Why it is withdrawn"), required=False, max_length=4000, widget=forms.Textarea(attrs={"rows": 2})
    )


_CHANNELS = [
    (Delivery.Channel.EMAIL, _("By email")),
    (Delivery.Channel.POST, _("By post")),
    (Delivery.Channel.PORTAL, _("In a portal")),
    (Delivery.Channel.HAND, _("By hand")),
]


class DeliveryForm(ActionForm):
    channel = forms.ChoiceField(label=_("How"), choices=_CHANNELS)
    address = forms.CharField(required=False, max_length=1000, help_text=_("Blank = recipient's email address"))
    reference = forms.CharField(label=_("Tracking number"), required=False, max_length=200)
    delivered_at = forms.DateTimeField(
        label=_("When (UTC)"),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text=_("Blank = now. Email is sent immediately."),
    )


class RecipientForm(ActionForm):
    """The recipient of the letter. Once the notice is approved, the reference is read-only."""

    PARTS = ("name", "address", "email", "reference")

    recipient_name = forms.CharField(label=_("Recipient's name"), required=False, max_length=recipients.MAX_WIDTH)
    recipient_address = forms.CharField(
        label=_("Recipient's postal address"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("With the name at most %(lines)s lines of %(width)s characters.")
        % {"lines": recipients.MAX_LINES, "width": recipients.MAX_WIDTH},
    )
    recipient_email = forms.EmailField(label=_("Recipient's email address"), required=False)
    recipient_reference = forms.CharField(
        label=_("Reference"),
        required=False,
        max_length=recipients.MAX_REFERENCE,
        help_text=_("Fixed once the notice is approved."),
    )

    def __init__(self, notice: Notice, entered: Any = None, *, initial: Any = None, **options: Any) -> None:
        recipient, is_fixed = self.shown(notice.recipient), notice.state in Notice.FINISHED
        if is_fixed and entered is not None:
            entered = entered.copy()
            entered.setdefault(
                "recipient_reference", recipient["recipient_reference"]
            )  # browsers do not send a disabled field
        super().__init__(notice, entered, initial={**(initial or {}), **recipient}, **options)
        if is_fixed:
            self.fields["recipient_reference"].widget.attrs["disabled"] = True

    def clean(self) -> None:
        if not self.errors and (problem := recipients.length_problem(self.entered(self.cleaned_data))):
            self.add_error("recipient_address", problem)

    @staticmethod
    def shown(recipient: Mapping[str, Any]) -> dict[str, Any]:
        """Return a recipient, which may be any object, as the form's initial values."""
        address = recipient.get("address", "")
        lines = address if isinstance(address, list) else [address]
        texts = {name: recipient.get(name, "") for name in ("name", "email", "reference")}
        return {
            **{f"recipient_{name}": text if isinstance(text, str) else "" for name, text in texts.items()},
            "recipient_address": "\n".join(line for line in lines if isinstance(line, str)),
        }

    @classmethod
    def lines(cls, recipient: Mapping[str, Any]) -> list[str]:
        """Return the non-empty lines of a recipient as pages show it: name, address and so on."""
        shown = cls.shown(recipient)
        lines = [line.strip() for part in cls.PARTS for line in shown[f"recipient_{part}"].splitlines()]
        return [line for line in lines if line]

    @staticmethod
    def entered(cleaned: Mapping[str, Any]) -> dict[str, Any]:
        """Return the recipient from the form's values."""
        recipient = {name: cleaned[f"recipient_{name}"] for name in ("name", "email", "reference")}
        recipient["address"] = [line.strip() for line in cleaned["recipient_address"].splitlines() if line.strip()]
        return {name: value for name, value in recipient.items() if value}


class ReasonForm(forms.Form):
    """The reason for an end, such as a return or a closed request."""

    reason = forms.CharField(
        max_length=4000, widget=forms.Textarea(attrs={"rows": 2}), error_messages={"required": _("Say why.")}
    )


def _language_choices() -> list[tuple[str, str]]:
    return [("", gettext("Choose one")), *((language, language) for language in languages())]


def _pack_choices() -> list[tuple[str, str]]:
    return [(pack.id, f"{pack.short_name}: {pack.framework}") for pack in packs().values()]


class GrantForm(forms.ModelForm):
    """An authority grant to one of the organization's members."""

    sections = {"packs": _("Laws and policies"), "valid_from": _("Validity")}

    member: "forms.ModelChoiceField[Member]" = forms.ModelChoiceField(
        queryset=None, help_text=_("Choose the person who may approve.")
    )
    packs = forms.MultipleChoiceField(
        choices=_pack_choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Tick what the grant covers. None ticked means all."),
    )

    class Meta:
        model = AuthorityGrant
        fields = ["member", "authority", "packs", "valid_from", "valid_to", "evidence"]
        help_texts = {
            "authority": _("Enter the role that lets them, such as credit officer or medical director."),
            "valid_from": _("Choose the first day."),
            "valid_to": _("Choose the last day. Leave it blank for a grant until revoked."),
            "evidence": _("Say where the authority is written down."),
        }
        widgets = {
            "valid_from": forms.DateInput(attrs={"type": "date"}),
            "valid_to": forms.DateInput(attrs={"type": "date"}),
            "evidence": forms.Textarea(attrs={"rows": 2}),
        }

    def __init__(self, organization_id: uuid.UUID, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = Member.objects.for_organization(organization_id).select_related("user")
        self.fields["member"].queryset = members.order_by("user__email")  # type: ignore[attr-defined]

    def clean(self) -> None:
        begins, ends = self.cleaned_data.get("valid_from"), self.cleaned_data.get("valid_to")
        if begins and ends and ends < begins:
            self.add_error("valid_to", _("The grant ends before it begins."))


class _Offering(forms.TextInput):
    """Input for any text, with suggestions of a law's texts for a placeholder."""

    def __init__(self, name: str) -> None:
        self.offered = [choice for pack in packs().values() for choice in pack.choices.get(name, ())]
        self.list_id = f"offered_{name}"
        super().__init__(attrs={"list": self.list_id} if self.offered else {})


class FieldNames(forms.CharField):
    """Names of fields, one a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 3}), **options)

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def validate(self, value: Any) -> None:
        if len(value) > MAX_FIELD_NAMES or any(len(name) > MAX_FIELD_NAME for name in value):
            raise forms.ValidationError(
                _("At most %(names)s names of %(characters)s characters.")
                % {"names": MAX_FIELD_NAMES, "characters": MAX_FIELD_NAME}
            )
        if nameless := [name for name in value if not any(map(str.isalnum, name))]:
            raise forms.ValidationError(_("%(name)s has neither a letter nor a digit.") % {"name": nameless[0]})

    def run_validators(self, value: Any) -> None:
        """Skip the validators of a text: the value is a list."""


class SettingsForm(forms.ModelForm):
    """An organization's notice settings, with a field for each placeholder in a pack's texts.

    Args:
        locked: disable all fields.
        guards_locked: disable the fields that only an owner may change.
    """

    default_pack = forms.ChoiceField(
        choices=_pack_choices, help_text=_("Choose the pack for drafts that name no other.")
    )

    sensitive_fields = FieldNames(
        label=_("Also withheld from letters"),
        help_text=_("Enter names of fields, one per line, beside the default list. badge_no also matches badgeNo."),
    )
    printable_fields = FieldNames(
        label=_("Allowed in letters although withheld by default"),
        help_text=_("Enter names of fields, one per line. The audit trail records who allowed them."),
    )
    signatory_name = forms.CharField(label=_("Who signs letters"), required=False, max_length=recipients.MAX_WIDTH)
    signatory_function = forms.CharField(label=_("Their function"), required=False, max_length=recipients.MAX_WIDTH)
    signatory_telephone = forms.CharField(label=_("Their telephone"), required=False, max_length=recipients.MAX_WIDTH)

    class Meta:
        model = NoticeSettings
        fields = ["default_pack", "at_risk_days", "require_grants", "require_other_key", "require_acknowledged"]
        labels = {
            "at_risk_days": _("Due soon"),
            "require_grants": _("Only holders of an authority grant may approve"),
            "require_other_key": _("No API key may approve a notice that it, or another key of the same origin, wrote"),
            "require_acknowledged": _("Approval confirms every warning under an advisory pack, too"),
        }
        help_texts = {
            "at_risk_days": _("Enter a number of days. A notice is due soon when this many or fewer are left."),
            "require_grants": _("Tick to stop API keys and members without a grant from approving."),
            "require_acknowledged": _("Tick to keep warnings from staying open under advisory packs, such as general."),
        }

    def __init__(self, *args: Any, locked: bool = False, guards_locked: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("sensitive_fields", "printable_fields"):
            self.fields[name].initial = getattr(self.instance, name)
        for name in SIGNATORY:
            self.fields[f"signatory_{name}"].initial = self.instance.signatory.get(name, "")
        needed = {name for pack in packs().values() for name in pack.settings} - {"organization"}
        for name in sorted(needed | set(self.instance.placeholders)):
            users = ", ".join(pack.short_name for pack in packs().values() if name in pack.settings)
            self.fields[f"text_{name}"] = forms.CharField(
                label=name.replace("_", " ").capitalize(),
                required=False,
                initial=self.instance.placeholders.get(name, ""),
                widget=_Offering(name),
                help_text=_("Fill in for letters under %(users)s.") % {"users": users}
                if users
                else _("Leave blank: no pack prints it."),
            )
        self.sections = {
            "sensitive_fields": _("What letters withhold"),
            "signatory_name": _("Who signs letters"),
            next(name for name in self.fields if name.startswith("text_")): _(
                "Names and addresses in the packs' texts"
            ),
        }
        row = self.instance
        for name, field in self.fields.items():
            is_guard = guards_locked and name in row.GUARDS and row.is_owners_alone(name)
            field.disabled = locked or is_guard or name in row.loosenings

    def clean(self) -> None:
        entered = [self.cleaned_data.get(name, []) for name in ("sensitive_fields", "printable_fields")]
        if both := same_names(*entered):
            self.add_error(
                "printable_fields",
                _("%(name)s is among what is withheld: take it off one of the lists.") % {"name": both[0]},
            )

    def values(self) -> dict[str, Any]:
        """Return the arguments for `services.change_settings`. Only for a valid form."""
        names = (*self.Meta.fields, "sensitive_fields", "printable_fields")
        return {
            **{name: self.cleaned_data[name] for name in names if not self.fields[name].disabled},
            "signatory": {name: self.cleaned_data[f"signatory_{name}"] for name in SIGNATORY},
            "placeholders": self._placeholders(),
        }

    def _placeholders(self) -> dict[str, str]:
        texts = {name.removeprefix("text_"): v for name, v in self.cleaned_data.items() if name.startswith("text_")}
        return {name: text for name, text in texts.items() if text}


class PhraseForm(forms.ModelForm):
    """An organization's words for one code or field.

    Args:
        locked: disable all fields.
    """

    language = forms.ChoiceField(choices=_language_choices)

    class Meta:
        model = Phrase
        fields = ["language", "key", "sentence", "label", "withheld", "owner", "approved_version"]
        widgets = {"sentence": forms.Textarea(attrs={"rows": 2})}
        help_texts = {
            "key": _("Enter a reason code, or the path of a field."),
            "sentence": _("Write one sentence. {value} becomes the field's value."),
            "label": _("Enter what the field is called."),
            "withheld": _("Tick to keep the field out of letters."),
            "owner": _("Name who answers for the words."),
            "approved_version": _("Enter the version that was approved, if you number them."),
        }

    def __init__(self, *args: Any, locked: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.disabled = locked


class PhraseTableForm(forms.Form):
    """A table of phrases as a file."""

    file = forms.FileField(
        label=_("CSV file"),
        error_messages={  # the upload handler drops larger files
            "required": _("Choose a file of less than 1 MiB. The command import_phrasebook takes larger ones.")
        },
    )

    def clean_file(self) -> list[Phrase]:
        try:
            return read_table(self.cleaned_data["file"].read().decode("utf-8-sig").splitlines(keepends=True))
        except UnicodeDecodeError:
            raise forms.ValidationError(_("The file is not UTF-8 text.")) from None
        except BadTable as error:
            raise forms.ValidationError(error.sentence) from None
