from django import forms
from django.utils.translation import gettext_lazy as _


class MailForm(forms.Form):
    email = forms.EmailField(
        label=_("Email address"),
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
        error_messages={
            "required": _("Enter your email address."),
            "invalid": _("This does not look like an email address."),
        },
    )


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True, "maxlength": 12}
        ),
        error_messages={"required": _("Enter the six digits.")},
    )

    def clean_code(self) -> str:
        """Return the digits, without spaces, dashes or line ends that were pasted along."""
        digits = "".join(character for character in self.cleaned_data["code"] if character.isdecimal())
        if len(digits) != 6:
            raise forms.ValidationError(_("The code has six digits."))
        return digits
