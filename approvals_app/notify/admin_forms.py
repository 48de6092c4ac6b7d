"""Forms of the console for channels and routes: what cannot be used is said at its field."""

from typing import Any

from django import forms

from approvals_app.notify.kinds import About
from approvals_app.notify.models import Channel, Route
from approvals_app.notify.services.channels import address_mistake
from approvals_app.notify.watch import watches

ADDRESS = (
    "E-mail: addresses with commas between them. Webhook: https://… Chat or paging: an address as Apprise writes it,"
    " such as slack://… or pagerduty://… It is not shown again."
)


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """One channel. The address that is kept is never shown: an empty field leaves it as it is."""

    address = forms.CharField(
        required=False, help_text=ADDRESS, widget=forms.Textarea(attrs={"rows": 2, "autocomplete": "off"})
    )
    new_secret = forms.BooleanField(
        required=False, label="Make a new secret", help_text="Webhooks: shown once; the old one no longer signs."
    )

    class Meta:
        model = Channel
        fields = ("workspace", "name", "kind", "address", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kept = self.instance.address if self.instance.pk else ""
        self.initial["address"] = ""
        if self.kept:
            self.fields["address"].help_text = f"There is one; leave this empty to keep it. {ADDRESS}"

    def clean(self) -> dict[str, Any]:
        """Check the address as the service does."""
        given: dict[str, Any] = super().clean() or {}
        given["address"] = given.get("address") or self.kept
        kind = given.get("kind") or self.instance.kind
        mistake = address_mistake(kind=kind, address=given["address"]) if kind else ""
        if mistake:
            self.add_error("address", mistake)
        return given


class RouteForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """One route."""

    class Meta:
        model = Route
        fields = ("workspace", "channel", "about", "group", "tool", "lowest_risk", "rule", "after", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rules = [(watch.name, watch.what) for watch in watches()]
        self.fields["rule"] = forms.ChoiceField(choices=[("", "all"), *rules], required=False)

    def clean(self) -> dict[str, Any]:
        """Refuse a channel of another workspace, and conditions that belong to the other kind of route."""
        given: dict[str, Any] = super().clean() or {}
        channel, workspace = given.get("channel"), given.get("workspace")
        if channel and workspace and channel.workspace_id != workspace.pk:
            self.add_error("channel", "This channel belongs to another workspace.")
        alerts = given.get("about") == About.ALERTS
        for field in ("group", "tool") if alerts else ("rule",):
            if given.get(field):
                self.add_error(field, f"This is not asked of {given['about']}; leave it empty.")
        return given
