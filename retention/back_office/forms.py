"""Forms for policies and holds."""

from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from config.http.timestamps import rfc3339
from retention import rules
from retention.models import MAX_DAYS, MAX_MATTER, MAX_NOTE, MAX_REASON, MIN_DAYS, USUAL_SHARE, Policy

_MAX_VALUE = 256  # characters
_MOMENT = forms.DateTimeInput(attrs={"type": "datetime-local"})
_LINES = forms.Textarea(attrs={"rows": 2})


class PolicyForm(forms.Form):
    days = forms.IntegerField(
        label=_("Keep decisions for this many days"),
        min_value=MIN_DAYS,
        max_value=MAX_DAYS,
        help_text=_("Counted from the date of the decision, or from the latest event about it."),
    )
    note = forms.CharField(
        required=False, max_length=MAX_NOTE, widget=_LINES, help_text=_("Reason, shown in the history.")
    )
    share_percent = forms.IntegerField(
        label=_("Ask an owner before deleting more than (%) in one run"), min_value=1, max_value=100
    )

    def __init__(self, data: Any = None, *, current: Policy | None = None) -> None:
        shown = {"share_percent": current.share_percent if current else USUAL_SHARE}
        super().__init__(data, initial={"days": current.days, **shown} if current else shown)


class HoldForm(forms.Form):
    matter = forms.CharField(max_length=MAX_MATTER, help_text=_("The case, claim or inquiry, such as its file number."))
    reason = forms.CharField(max_length=MAX_REASON, widget=_LINES, label=_("Reason for the hold"))


class FilterHoldForm(HoldForm):
    """A hold by a filter, with a field for each of `rules.FILTERS`. A decision must match all values, with spaces."""

    action = forms.CharField(required=False, max_length=_MAX_VALUE, strip=False)
    system = forms.CharField(required=False, max_length=_MAX_VALUE, strip=False)
    source = forms.CharField(required=False, max_length=_MAX_VALUE, strip=False)
    subject_reference = forms.CharField(
        required=False, max_length=_MAX_VALUE, strip=False, label=_("Reference of the subject")
    )
    decided_from = forms.DateTimeField(required=False, widget=_MOMENT, label=_("Decided from (UTC)"))
    decided_to = forms.DateTimeField(required=False, widget=_MOMENT, label=_("Decided before (UTC)"))
    received_from = forms.DateTimeField(required=False, widget=_MOMENT, label=_("Received from (UTC)"))
    received_to = forms.DateTimeField(required=False, widget=_MOMENT, label=_("Received before (UTC)"))

    def clean(self) -> dict[str, Any]:
        if not self.errors and not self.filter:
            raise forms.ValidationError(_("Fill in at least one value that decisions must match."))
        if not self.errors and rules.is_empty_range(self.filter):
            raise forms.ValidationError(_("The start of a range is not before its end. Correct the times."))
        return self.cleaned_data

    @property
    def filter(self) -> dict[str, str]:
        """Return the values of a valid form as JSON values."""
        entered = ((name, self.cleaned_data[name]) for name in rules.FILTERS)
        return {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in entered if value}


class LiftForm(forms.Form):
    because = forms.CharField(max_length=MAX_REASON, widget=_LINES, label=_("Reason for lifting"))
