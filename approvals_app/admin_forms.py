"""Forms of the console for rules and groups: a mistake is shown at its field, in a condition at its place."""

from dataclasses import fields
from typing import Any

from django import forms

from approvals_app.models import ApproverGroup, PolicyRule
from approvals_app.policy import Demand
from approvals_app.services.policy import rule_mistakes
from approvals_app.status import EVERYONE, OnExpiry, Outcome, ReasonRule

_DEMANDS = [field.name for field in fields(Demand)]


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """One rule; what is saved is its next version."""

    class Meta:
        model = PolicyRule
        fields = ("workspace", "name", "position", "condition", *_DEMANDS, "shadow")
        widgets = {"condition": forms.Textarea(attrs={"rows": 6, "class": "vLargeTextField", "spellcheck": "false"})}

    def clean(self) -> dict[str, Any]:
        """Check the rule as the service does; point at each mistake."""
        given = super().clean() or {}
        workspace = given.get("workspace") or (self.instance.workspace_id and self.instance.workspace)
        name = given.get("name") or self.instance.name
        if self.errors or not workspace:
            return given
        mistakes = rule_mistakes(workspace=workspace, name=name, condition=given["condition"], demand=self.demand())
        for mistake in mistakes:
            shown = _pointed(mistake, given["condition"])
            self.add_error(mistake["field"] if mistake["field"] in self.fields else None, shown)
        return given

    def demand(self) -> Demand:
        """Return what the rule demands, as policy reads it."""
        given = {name: self.cleaned_data[name] for name in _DEMANDS}
        given["outcome"] = Outcome(given["outcome"])
        given["reason_rule"] = ReasonRule(given["reason_rule"])
        given["on_expiry"] = OnExpiry(given["on_expiry"])
        return Demand(**given)


class GroupForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A group and its members."""

    class Meta:
        model = ApproverGroup
        fields = ("workspace", "name", "members")

    def clean_name(self) -> str:
        """Refuse the name that stands for everyone."""
        name = str(self.cleaned_data["name"])
        if name == EVERYONE:
            raise forms.ValidationError(f"{EVERYONE!r} stands for everyone with the right; choose another name.")
        return name


def _pointed(mistake: dict[str, Any], condition: str) -> list[str]:
    """Return the mistake, and the line with a mark under its place."""
    if "line" not in mistake:
        return [str(mistake["reason"])]
    lines = condition.splitlines() or [""]
    there = lines[min(mistake["line"], len(lines)) - 1]
    before, after = there[: mistake["column"] - 1], there[mistake["column"] - 1 :]
    return [str(mistake["reason"]), f"{before} ▸ {after}"]
