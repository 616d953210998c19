import uuid
from typing import Any

from django import forms

from decisions.reviews import Review


class UnechoedText(forms.Textarea):
    """A text that goes in and never comes back out, not even beside an error message."""

    def format_value(self, value: Any) -> str:
        return ""


class ReviewForm(forms.Form):
    """A reconsideration, as an operator records it. The two texts are committed to and not kept."""

    idempotency_key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    requested_by = forms.CharField(label="Requested by", help_text="Who asked for the review.")
    reviewer = forms.CharField(label="Reviewer")
    reviewer_authority = forms.CharField(
        label="Reviewer's authority", help_text="To change the decision, for example credit officer."
    )
    outcome = forms.CharField(
        label="Outcome",
        max_length=64,
        help_text="Reports understand upheld, modified and overturned.",
        widget=forms.TextInput(attrs={"list": "outcomes"}),
    )
    new_action = forms.CharField(
        label="New action", required=False, max_length=256, help_text="Leave empty if the action stays."
    )
    rationale = forms.CharField(
        widget=UnechoedText(attrs={"rows": 5, "autocomplete": "off"}),
        help_text="Keep this text yourself: the record holds only a commitment to it.",
        strip=False,
    )
    evidence_considered = forms.CharField(
        required=False,
        label="Evidence considered",
        widget=UnechoedText(attrs={"rows": 3, "autocomplete": "off"}),
        help_text="References, one a line; they are committed to as well, not kept.",
    )

    def review(self) -> Review:
        """What was entered. Only for a valid form."""
        entered: dict[str, Any] = dict(self.cleaned_data)
        del entered["idempotency_key"]
        lines = entered.pop("evidence_considered").split("\n")
        # Browsers send line breaks as CR LF; the text that is committed to has them as the operator's own file does.
        rationale = entered.pop("rationale").replace("\r\n", "\n")
        return Review(
            **entered | {"new_action": entered["new_action"] or None},
            rationale=rationale,
            evidence_considered=[line.strip() for line in lines if line.strip()],
        )
