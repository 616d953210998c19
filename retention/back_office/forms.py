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
        help_text=_("Enter a number of days. They count from the decision, or from the latest event about it."),
    )
    note = forms.CharField(
        required=False, max_length=MAX_NOTE, widget=_LINES, help_text=_("Give the reason. The history shows it.")
    )
    share_percent = forms.IntegerField(
        label=_("Ask an owner before deleting more than (%) in one run"),
        min_value=1,
        max_value=100,
        help_text=_("Enter a share of all decisions. A daily run above it waits for an owner."),
    )

    def __init__(self, data: Any = None, *, current: Policy | None = None) -> None:
        shown = {"share_percent": current.share_percent if current else USUAL_SHARE}
        super().__init__(data, initial={"days": current.days, **shown} if current else shown)


class HoldForm(forms.Form):
    matter = forms.CharField(
        max_length=MAX_MATTER, help_text=_("Name the case, claim or inquiry, for example by its file number.")
    )
    reason = forms.CharField(
        max_length=MAX_REASON,
        widget=_LINES,
        label=_("Reason for the hold"),
        help_text=_("Say why the decisions must be kept."),
    )


class FilterHoldForm(HoldForm):
    """A hold by a filter, with a field for each of `rules.FILTERS`. A decision must match all values, with spaces."""

    sections = {"action": _("Decisions to hold"), "decided_from": _("Only decisions of a period")}

    action = forms.CharField(
        required=False,
        max_length=_MAX_VALUE,
        strip=False,
        help_text=_("Enter it as the records do, for example denied."),
    )
    system = forms.CharField(
        required=False, max_length=_MAX_VALUE, strip=False, help_text=_("Enter the system's name as the records do.")
    )
    source = forms.CharField(
        required=False,
        max_length=_MAX_VALUE,
        strip=False,
        help_text=_("Enter the source as the list of decisions does."),
    )
    subject_reference = forms.CharField(
        required=False,
        max_length=_MAX_VALUE,
        strip=False,
        label=_("Reference of the subject"),
        help_text=_("Enter the reference that your systems use for the person."),
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
    because = forms.CharField(
        max_length=MAX_REASON,
        widget=_LINES,
        label=_("Reason for lifting"),
        help_text=_("Say why the decisions need not be kept longer."),
    )
