"""Forms of the console for workspaces and tokens: what a service would refuse is said at its field."""

from typing import Any, ClassVar

from django import forms

from core.access import PEOPLE_ONLY, Right
from core.errors import InvalidInput
from core.models import ApiToken, Membership, Workspace
from tasks_app.services.access import LONGEST_DAYS, slug_checked


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A workspace's name and short name."""

    class Meta:
        model = Workspace
        fields = ("name", "slug")
        help_texts: ClassVar = {"slug": "Its short name in addresses and commands; it stays as it is."}

    def clean_slug(self) -> str:
        """Refuse here what the service would refuse."""
        try:
            return slug_checked(self.cleaned_data["slug"])
        except InvalidInput as refused:
            raise forms.ValidationError(refused.fields["errors"][0]["reason"]) from refused


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A new token: what it may do, and for how long."""

    scopes = forms.MultipleChoiceField(
        choices=[(right.value, right.value) for right in Right], widget=forms.CheckboxSelectMultiple
    )
    days = forms.FloatField(min_value=0.01, max_value=LONGEST_DAYS, initial=90, help_text="Days until it expires.")

    class Meta:
        model = ApiToken
        fields = ("workspace", "user", "kind", "name", "scopes")

    def clean(self) -> dict[str, Any]:
        """Refuse here what the service would refuse, at its field."""
        given: dict[str, Any] = super().clean() or {}
        if given.get("kind") == "agent" and PEOPLE_ONLY.intersection(given.get("scopes", [])):
            self.add_error("scopes", "A program's token can never decide an approval or settle a call in doubt.")
        members = Membership.objects.filter(workspace=given.get("workspace"), user=given.get("user"))
        if given.get("workspace") and given.get("user") and not members.exists():
            self.add_error("user", "Is not a member of this workspace.")
        return given
