"""What people post from the task pages."""

import secrets
from typing import Any

from django import forms

from core.json_text import NotJson, UnfitJson, json_read
from core.moment_field import Moment
from tasks_app.services.intake import TEXT_LIMIT, TITLE_LIMIT


class FilterForm(forms.Form):
    """What the list is narrowed to; all of it is in the address."""

    text = forms.CharField(required=False, max_length=200)
    status = forms.CharField(required=False, max_length=20)
    agent = forms.CharField(required=False, max_length=120)
    owner = forms.CharField(required=False, max_length=150)
    label = forms.CharField(required=False, max_length=260)
    tool = forms.CharField(required=False, max_length=120)
    since = Moment()
    until = Moment()


class ReasonForm(forms.Form):
    """Why an operator acts."""

    reason = forms.CharField(max_length=TEXT_LIMIT, widget=forms.Textarea(attrs={"rows": 2}))


class OptionalReasonForm(forms.Form):
    """Why an operator acts, where the record does not insist."""

    reason = forms.CharField(required=False, max_length=TEXT_LIMIT, widget=forms.Textarea(attrs={"rows": 2}))


class EmptyForm(forms.Form):
    """Nothing needs to be said."""


class SignalForm(forms.Form):
    """A signal; the payload is JSON, or plain text."""

    name = forms.CharField(max_length=120)
    payload = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, "class": "code"}),
        help_text="JSON; anything else is sent as text.",
    )
    request_key = forms.CharField(max_length=200, widget=forms.HiddenInput)

    def clean_payload(self) -> Any:
        """Return the payload as JSON, or as the text that it is."""
        given = self.cleaned_data["payload"]
        try:
            return json_read(given) if given else None
        except NotJson:
            return given
        except UnfitJson as refused:
            raise forms.ValidationError(str(refused)) from None


class CopyForm(forms.Form):
    """From which settled step a copy starts."""

    step = forms.IntegerField(required=False, min_value=0, help_text="A settled step; by default the last one.")
    title = forms.CharField(required=False, max_length=TITLE_LIMIT)
    request_key = forms.CharField(max_length=200, widget=forms.HiddenInput)


class SettleForm(forms.Form):
    """What a person found out about a call in doubt."""

    ANSWERS = [
        ("happened", "It happened"),
        ("not_happened", "It did not happen"),
        ("unknown", "Unknown, go on"),
        ("run_again", "Run it again anyway"),
    ]
    answer = forms.ChoiceField(choices=ANSWERS, widget=forms.RadioSelect)
    reference = forms.CharField(
        required=False,
        max_length=300,
        label="Outside reference",
        help_text="If it happened: its number in the outside system (a payment, ticket or commit).",
    )
    evidence = forms.CharField(
        max_length=TEXT_LIMIT,
        widget=forms.Textarea(attrs={"rows": 3}),
        label="What you saw, and where",
        help_text="Kept in the record as evidence, under your name.",
    )

    def clean(self) -> dict[str, Any]:
        """Ask for the reference where something happened: without it nobody can find it again."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("answer") == "happened" and not given.get("reference"):
            self.add_error("reference", "Give the reference of what happened, so that it can be found again.")
        return given


ACTION_FORMS: dict[str, type[forms.Form]] = {
    "pause": ReasonForm,
    "resume": OptionalReasonForm,
    "recheck": EmptyForm,
    "cancel": ReasonForm,
    "signal": SignalForm,
    "copy": CopyForm,
}


def fresh_forms() -> dict[str, forms.Form]:
    """Return a fresh form for each action; a request key makes a double click one request."""
    fresh = {"request_key": secrets.token_hex(16)}
    return {name: form(initial=fresh, prefix=name, auto_id="%s") for name, form in ACTION_FORMS.items()}
