"""Channels, routes and rules of alerts in the console; alerts and deliveries are looked at only."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from approvals_app.notify.admin_forms import ChannelForm, RouteForm
from approvals_app.notify.models import Alert, AlertRule, Channel, Delivery, Pulse, Route
from approvals_app.notify.services.alert_rules import alert_rule_save
from approvals_app.notify.services.channels import channel_save, channel_try, route_remove, route_save
from core.console import ConsoleAdmin, ReadOnlyAdmin
from core.console_said import actor_of


@admin.register(Channel)
class ChannelAdmin(ConsoleAdmin):
    """Ways out; an address is checked when it is saved, and tried by a message that says so."""

    form = ChannelForm
    list_display = ("name", "workspace", "kind", "enabled")
    list_filter = ("workspace", "kind", "enabled")
    search_fields = ("name",)
    list_select_related = ("workspace",)
    actions = ("send_a_test",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the workspace and the kind: deliveries name them."""
        return ("workspace", "kind") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Switch it off; what was sent by it stays listed."""
        return False

    def save_model(self, request: HttpRequest, obj: Channel, form: Any, change: bool) -> None:
        """Save it, and show the secret of a webhook where it is new, this once."""
        before = Channel.objects.get(pk=obj.pk) if change else None
        obj.address = form.cleaned_data["address"]
        new = form.cleaned_data["new_secret"]
        secret = channel_save(channel=obj, actor=actor_of(request), before=before, new_secret=new)
        if secret:
            messages.warning(request, f"The webhook's secret, shown this once: {secret}")

    @admin.action(description="Send a test message by the selected channels", permissions=["change"])
    def send_a_test(self, request: HttpRequest, queryset: QuerySet[Channel]) -> None:
        """Put a message on its way."""
        assert isinstance(request.user, User)
        for channel in queryset.select_related("workspace"):
            if channel_try(channel=channel, user=request.user):
                messages.success(request, f"On its way by {channel}; what comes of it is listed under Deliveries.")
            else:
                messages.error(request, f"{channel} mails people, and your account has no e-mail address.")


@admin.register(Route)
class RouteAdmin(ConsoleAdmin):
    """What goes by which channel, and when: the people who are asked first, louder channels later."""

    form = RouteForm
    list_display = ("channel", "about", "group", "tool", "lowest_risk", "rule", "after", "enabled", "workspace")
    list_filter = ("workspace", "about", "enabled")
    list_select_related = ("channel", "workspace")

    def save_model(self, request: HttpRequest, obj: Route, form: Any, change: bool) -> None:
        """Save it, said in the administration stream."""
        before = Route.objects.select_related("channel").get(pk=obj.pk) if change else None
        route_save(route=obj, actor=actor_of(request), before=before)

    def delete_model(self, request: HttpRequest, obj: Route) -> None:
        """Remove it, said in the administration stream."""
        route_remove(route=obj, actor=actor_of(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Route]) -> None:
        """Remove several, each said."""
        for route in queryset.select_related("channel"):
            self.delete_model(request, route)


@admin.register(AlertRule)
class AlertRuleAdmin(ConsoleAdmin):
    """Which rules of alerts are watched, and how long their condition must hold."""

    within = ""
    list_display = ("name", "enabled", "holds_for")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A rule appears when it is first watched."""
        return False

    def save_model(self, request: HttpRequest, obj: AlertRule, form: Any, change: bool) -> None:
        """Save it, said in the administration streams."""
        alert_rule_save(rule=obj, actor=actor_of(request))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Switch it off instead."""
        return False


@admin.register(Alert)
class AlertAdmin(ReadOnlyAdmin):
    """What was raised, and when it was over."""

    everywhere = True
    list_display = ("title", "rule", "workspace", "seen_at", "raised_at", "cleared_at")
    list_filter = ("rule", "workspace", ("cleared_at", admin.EmptyFieldListFilter))
    list_select_related = ("workspace",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Every message, with each try; the page of deliveries sends one again."""

    list_display = ("kind", "channel", "recipient", "state", "tries", "made_at", "ended_at")
    list_filter = ("state", "kind", "workspace")
    search_fields = ("recipient", "subject")
    list_select_related = ("channel",)


@admin.register(Pulse)
class PulseAdmin(ReadOnlyAdmin):
    """When the outside was last told that all is well."""

    within = ""
    list_display = ("beat_at", "answer")
