from django import forms


class MailForm(forms.Form):
    email = forms.EmailField(
        label="Email address",
        widget=forms.EmailInput(attrs={"autocomplete": "username", "autofocus": True}),
        error_messages={
            "required": "Enter your email address.",
            "invalid": "This does not look like an email address.",
        },
    )


class CodeForm(forms.Form):
    code = forms.CharField(
        label="Code",
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True, "maxlength": 12}
        ),
        error_messages={"required": "Enter the six digits."},
    )

    def clean_code(self) -> str:
        """Return the digits, without spaces, dashes or line ends that were pasted along."""
        digits = "".join(character for character in self.cleaned_data["code"] if character.isdecimal())
        if len(digits) != 6:
            raise forms.ValidationError("The code has six digits.")
        return digits
