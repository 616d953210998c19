from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

_MAX_MESSAGE = 4000


class _Lines(forms.CharField):
    """Text with line breaks of one character, as the browser's own limit counts them."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class CodeForm(forms.Form):
    """The code from the letter, as evidence that its reader has the letter."""

    code = forms.CharField(
        label=_("Code from your letter"),
        help_text=_("It is in the box at the end of the letter, such as 4F7K-Q2MD."),
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
        error_messages={"required": _("Enter the code from your letter.")},
    )


class ReviewForm(CodeForm):
    """A person's request for human review of the decision."""

    message = _Lines(
        label=_("Your message (optional)"),
        help_text=_("What should they know? At most 4,000 characters."),
        required=False,
        max_length=_MAX_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 6}),
    )
    email = forms.EmailField(
        label=_("Email address (optional)"),
        help_text=_("We use it to confirm your request and to answer you."),
        required=False,
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
        error_messages={"invalid": _("This does not look like an email address.")},
    )
