"""Forms of the console for workspaces and tokens: what a service would refuse is said at its field."""

from typing import Any, ClassVar

from django import forms

from core.access import Right
from core.errors import InvalidInput
from core.models import ApiToken, Membership, Workspace
from tasks_app.services.access import LONGEST_DAYS, LONGEST_KEPT, slug_checked, word_mistake


class WorkspaceForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A workspace's name and short name, and how long its ended tasks are kept."""

    keep_days = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LONGEST_KEPT,
        label="Keep for (days)",
        help_text="Tasks that ended longer ago go, exported, when `manage.py record purge` runs; empty: none does.",
    )

    class Meta:
        model = Workspace
        fields = ("name", "slug", "keep_days")
        help_texts: ClassVar = {"slug": "Its short name in addresses and commands; it stays as it is."}

    def clean_slug(self) -> str:
        """Refuse here what the service would refuse."""
        try:
            return slug_checked(self.cleaned_data["slug"])
        except InvalidInput as refused:
            raise forms.ValidationError(refused.fields["errors"][0]["reason"]) from refused


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A new token: what it may do, and for how long. ``actor``: who makes it, set by the console."""

    actor = ""

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
        workspace, user = given.get("workspace"), given.get("user")
        if not workspace or not user:
            return given
        scopes = given.get("scopes", [])
        kind = given.get("kind", "")
        mistake = word_mistake(kind=kind, scopes=scopes, user=user, actor=self.actor)
        if mistake:
            self.add_error("scopes" if kind == "agent" else "user", mistake[0].upper() + mistake[1:])
        if not Membership.objects.filter(workspace=workspace, user=user).exists():
            self.add_error("user", "Is not a member of this workspace.")
        return given
