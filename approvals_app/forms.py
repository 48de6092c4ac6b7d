"""What a person posts from a card."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.forms.fields import InvalidJSONInput

from approvals_app.services.decide import MOST_REASON
from approvals_app.status import Answer
from core.json_text import NotJson, UnfitJson, json_read


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


class GroupForm(forms.Form):
    """Which kind of request is denied as a whole, and why."""

    workspace = forms.SlugField(widget=forms.HiddenInput)
    agent = forms.CharField(max_length=120, widget=forms.HiddenInput)
    tool = forms.CharField(max_length=120, widget=forms.HiddenInput)
    rule = forms.CharField(max_length=80, widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept in the record; the agent reads it.",
    )


class StopForm(forms.Form):
    """What a stop is over, and why. ``everything``: whether this person may stop every workspace."""

    scope = forms.ChoiceField(
        choices=[("agent", "An agent"), ("tool", "A tool"), ("workspace", "Everything in the workspace")], label="Stop"
    )
    name = forms.CharField(
        required=False, max_length=120, label="Its name", help_text="Of the agent or the tool; else leave it empty."
    )
    workspace = forms.ChoiceField(label="In the workspace")
    reason = forms.CharField(
        max_length=500, label="Why", widget=forms.Textarea(attrs={"rows": 2}), help_text="Kept in the record."
    )

    def __init__(self, data: Any = None, *, workspaces: Sequence[tuple[str, str]], everything: bool) -> None:
        super().__init__(data, auto_id="stop-%s")
        place = cast(forms.ChoiceField, self.fields["workspace"])
        place.choices = workspaces
        if len(workspaces) == 1:
            place.initial, place.widget = workspaces[0][0], forms.HiddenInput()
        if everything:
            scope = cast(forms.ChoiceField, self.fields["scope"])
            scope.choices = [*cast(list[tuple[str, str]], scope.choices), ("all", "Everything in every workspace")]

    def clean(self) -> dict[str, Any]:
        """Refuse at its field what the service would refuse."""
        given: dict[str, Any] = super().clean() or {}
        named = given.get("scope") in {"agent", "tool"}
        if "scope" in given and named != bool(given.get("name")):
            self.add_error("name", "Name the agent or the tool." if named else "A stop of this kind takes no name.")
        return given


class LiftForm(forms.Form):
    """Why a stop is lifted."""

    reason = forms.CharField(max_length=500)


class GrantForm(forms.Form):
    """How long and how often an exact call may run without asking again."""

    hours = forms.IntegerField(min_value=1, max_value=24 * 90, initial=24, label="For how many hours")
    uses = forms.IntegerField(min_value=1, max_value=1000, initial=5, label="How often at most")
    reason = forms.CharField(max_length=MOST_REASON, widget=forms.Textarea(attrs={"rows": 3}), label="Why")


class ObjectField(forms.JSONField):
    """A JSON object; an empty one is an answer too."""

    empty_values = [None, ""]

    def prepare_value(self, value: Any) -> Any:
        """Show an object that was not given as nothing, not as JSON's null."""
        return "" if value is None else super().prepare_value(value)

    def to_python(self, value: Any) -> Any:
        """Read the JSON. Raises ValidationError naming the place that is none, or why it cannot be kept."""
        if self.disabled or not isinstance(value, str):
            return super().to_python(value)
        try:
            return json_read(value) if value else None
        except (NotJson, UnfitJson) as refused:
            raise forms.ValidationError(str(refused)) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        """Show what was typed as it was typed: nobody has read it yet."""
        return initial if self.disabled else None if data is None else InvalidJSONInput(data)

    def clean(self, value: Any) -> Any:
        """Refuse what is JSON and no object."""
        given = super().clean(value)
        if given is not None and not isinstance(given, dict):
            raise forms.ValidationError('Write a JSON object, such as {"name": "value"}.')
        return given


class TrialForm(forms.Form):
    """A call to try the rules on; nothing runs."""

    tool = forms.ChoiceField()
    arguments = ObjectField(
        widget=forms.Textarea(attrs={"rows": 5, "class": "code", "spellcheck": "false"}),
        initial=dict,
        label="Arguments, as JSON",
    )
    agent = forms.CharField(required=False, max_length=120)
    labels = ObjectField(
        required=False,
        initial=dict,
        widget=forms.Textarea(attrs={"rows": 2, "class": "code", "spellcheck": "false"}),
        label="Labels, as JSON",
    )
