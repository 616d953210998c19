"""What operators enter about policies and holds."""

from datetime import datetime
from typing import Any

from django import forms

from config.http.timestamps import rfc3339
from retention import rules
from retention.models import LONGEST, MAX_MATTER, MAX_NOTE, MAX_REASON, SHORTEST, USUAL_SHARE, Policy

_LONGEST_VALUE = 256
_MOMENT = forms.DateTimeInput(attrs={"type": "datetime-local"})
_LINES = forms.Textarea(attrs={"rows": 2})


class PolicyForm(forms.Form):
    days = forms.IntegerField(
        label="Keep decisions for this many days",
        min_value=SHORTEST,
        max_value=LONGEST,
        help_text="From the date of the decision, or from the last thing that happened to it since.",
    )
    note = forms.CharField(required=False, max_length=MAX_NOTE, widget=_LINES, help_text="Why, for the history.")
    share_percent = forms.IntegerField(
        label="Ask an owner if a daily run would free more than this share (%)", min_value=1, max_value=100
    )

    def __init__(self, data: Any = None, *, current: Policy | None = None) -> None:
        shown = {"share_percent": current.share_percent if current else USUAL_SHARE}
        super().__init__(data, initial={"days": current.days, **shown} if current else shown)


class HoldForm(forms.Form):
    matter = forms.CharField(max_length=MAX_MATTER, help_text="The case, claim or inquiry, such as its file number.")
    reason = forms.CharField(max_length=MAX_REASON, widget=_LINES, label="Why it must not be disposed of")


class FilterHoldForm(HoldForm):
    """A field for each of `rules.FILTERS`. A decision must match all that are filled in, spaces included."""

    action = forms.CharField(required=False, max_length=_LONGEST_VALUE, strip=False)
    system = forms.CharField(required=False, max_length=_LONGEST_VALUE, strip=False)
    source = forms.CharField(required=False, max_length=_LONGEST_VALUE, strip=False)
    subject_reference = forms.CharField(
        required=False, max_length=_LONGEST_VALUE, strip=False, label="Reference of the subject"
    )
    decided_from = forms.DateTimeField(required=False, widget=_MOMENT, label="Decided from (UTC)")
    decided_to = forms.DateTimeField(required=False, widget=_MOMENT, label="Decided before (UTC)")
    received_from = forms.DateTimeField(required=False, widget=_MOMENT, label="Received from (UTC)")
    received_to = forms.DateTimeField(required=False, widget=_MOMENT, label="Received before (UTC)")

    def clean(self) -> dict[str, Any]:
        if not self.errors and not self.filter:
            raise forms.ValidationError("Fill in at least one value that decisions must match.")
        if not self.errors and rules.is_empty_range(self.filter):
            raise forms.ValidationError("No time is from the first and before the last, so it would hold nothing.")
        return self.cleaned_data

    @property
    def filter(self) -> dict[str, str]:
        """What was filled in, as JSON has it. Only for a valid form."""
        entered = ((name, self.cleaned_data[name]) for name in rules.FILTERS)
        return {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in entered if value}


class LiftForm(forms.Form):
    because = forms.CharField(max_length=MAX_REASON, widget=_LINES, label="Why it is lifted")
