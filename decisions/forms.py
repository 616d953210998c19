import uuid
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from decisions.review_records import Review


class UnechoedText(forms.Textarea):
    """A text area that never shows its text again, not even beside an error message."""

    def format_value(self, value: Any) -> str:
        return ""


class ReviewForm(forms.Form):
    """The form for recording a reconsideration. Its two texts are committed to, not stored."""

    sections = {"requested_by": _("Who"), "outcome": _("Outcome"), "rationale": _("Reasons")}

    idempotency_key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    requested_by = forms.CharField(label=_("Requested by"), help_text=_("Name who asked for the review."))
    reviewer = forms.CharField(label=_("Reviewer"), help_text=_("Name the person who reviewed the decision."))
    reviewer_authority = forms.CharField(
        label=_("Reviewer's authority"),
        help_text=_("Enter the role that may change the decision, for example credit officer."),
    )
    outcome = forms.CharField(
        label=_("Outcome"),
        max_length=64,
        help_text=_("Enter upheld, modified or overturned. Reports do not count other words as changes."),
        widget=forms.TextInput(attrs={"list": "outcomes"}),
    )
    new_action = forms.CharField(
        label=_("New action"), required=False, max_length=256, help_text=_("Leave blank if the outcome doesn't change.")
    )
    rationale = forms.CharField(
        widget=UnechoedText(attrs={"rows": 5, "autocomplete": "off"}),
        help_text=_("Keep a copy of this text. We store only a fingerprint of it."),
        strip=False,
    )
    evidence_considered = forms.CharField(
        required=False,
        label=_("Evidence considered"),
        widget=UnechoedText(attrs={"rows": 3, "autocomplete": "off"}),
        help_text=_("Enter one reference per line. We store only a fingerprint of each."),
    )

    def review(self) -> Review:
        """Return the review of a valid form."""
        entered: dict[str, Any] = dict(self.cleaned_data)
        del entered["idempotency_key"]
        lines = entered.pop("evidence_considered").split("\n")
        # Browsers send CR LF. The commitment is to the text with LF, as in the operator's file.
        rationale = entered.pop("rationale").replace("\r\n", "\n")
        return Review(
            **entered | {"new_action": entered["new_action"] or None},
            rationale=rationale,
            evidence_considered=[line.strip() for line in lines if line.strip()],
        )
