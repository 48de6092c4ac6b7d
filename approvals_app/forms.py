"""What a person posts from a card."""

from django import forms

from approvals_app.services.decide import MOST_REASON
from approvals_app.status import Answer


class ReasonForm(forms.Form):
    """A reason, for the record and for the agent."""

    reason = forms.CharField(
        required=False,
        max_length=MOST_REASON,
        strip=True,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Kept in the record; the agent reads it.",
    )


class DecisionForm(ReasonForm):
    """A decision on the call whose digest the card showed."""

    decision = forms.ChoiceField(choices=[(answer.value, answer.value) for answer in Answer])
    digest = forms.CharField(max_length=64, widget=forms.HiddenInput)
