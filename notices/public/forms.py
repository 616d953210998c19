from typing import Any

from django import forms

from notices.public.page_texts import Words

_MAX_MESSAGE = 4000


class _Lines(forms.CharField):
    """Text with line breaks of one character, as the browser's own limit counts them."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class CodeForm(forms.Form):
    """The code from the letter, as evidence that its reader has the letter."""

    code = forms.CharField(
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, words: Words) -> None:
        super().__init__(*args)
        for name, field in self.fields.items():
            field.label, field.help_text = words[f"ask_{name}"], words[f"ask_{name}_help"]
        self.fields["code"].error_messages["required"] = words["ask_code_missing"]


class ReviewForm(CodeForm):
    """A person's request for human review of the decision."""

    message = _Lines(required=False, max_length=_MAX_MESSAGE, widget=forms.Textarea(attrs={"rows": 6}))
    email = forms.EmailField(required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))

    def __init__(self, *args: Any, words: Words) -> None:
        super().__init__(*args, words=words)
        self.fields["email"].error_messages["invalid"] = words["ask_email_wrong"]
