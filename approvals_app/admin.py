"""Approvals in the admin console: requests are looked at only; policy, groups and grants change by their services."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest

from approvals_app.admin_forms import GroupForm, RuleForm
from approvals_app.models import (
    ApprovalAnswer,
    ApprovalRequest,
    ApprovalView,
    ApproverGroup,
    PolicyBook,
    PolicyRule,
    StandingGrant,
)
from approvals_app.rights import roles_of
from approvals_app.services.grants import grant_revoke
from approvals_app.services.policy import group_set, rule_retire, rule_write
from core.console import ConsoleAdmin, ReadOnlyAdmin, ReadOnlyInline
from core.console_said import actor_of
from core.errors import HandrailError
from core.principal import Principal


class AnswerInline(ReadOnlyInline):
    """Who answered what, when; answers are given on the desk and stay as they were given."""

    model = ApprovalAnswer


@admin.register(ApprovalRequest)
class ApprovalRequestAdmin(ReadOnlyAdmin):
    """Looks and finds; changing a row here would leave the record behind."""

    list_display = ("line", "tool", "agent", "rule", "status", "task", "requested_at", "decide_by", "decided_by")
    list_filter = ("status", "risk", "rule", "tool", "workspace")
    search_fields = ("line", "name", "digest", "task__title")
    list_select_related = ("task", "decided_by")
    date_hierarchy = "requested_at"
    ordering = ("-requested_at",)
    inlines = (AnswerInline,)


@admin.register(PolicyRule)
class PolicyRuleAdmin(ConsoleAdmin):
    """Rules by version: saving one writes the next version; a mistake in a condition is shown with its place."""

    form = RuleForm
    list_display = ("name", "version", "workspace", "position", "outcome", "shadow", "group", "quorum", "retired_at")
    list_filter = ("workspace", ("retired_at", admin.EmptyFieldListFilter), "outcome", "shadow")
    search_fields = ("name", "condition")
    list_select_related = ("workspace",)
    readonly_fields = ("version", "written_by", "written_at", "retired_at")
    actions = ("retire",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A version that holds no more stays as it was."""
        return super().has_change_permission(request) and (obj is None or obj.retired_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Retire it: what decided then stays known."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep workspace and name of a rule: its versions belong together."""
        return (*self.readonly_fields, "workspace", "name") if obj else self.readonly_fields

    def save_model(self, request: HttpRequest, obj: PolicyRule, form: Any, change: bool) -> None:
        """Write the next version."""
        new = rule_write(
            workspace=obj.workspace,
            name=obj.name,
            condition=obj.condition,
            demand=form.demand(),
            position=obj.position,
            shadow=obj.shadow,
            actor=actor_of(request),
        )
        obj.pk, obj.version = new.pk, new.version

    @admin.action(description="Retire the selected rules", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: QuerySet[PolicyRule]) -> None:
        """Let them hold no more."""
        for rule in queryset.filter(retired_at=None).select_related("workspace"):
            rule_retire(workspace=rule.workspace, name=rule.name, actor=actor_of(request))
        messages.success(request, "Retired; each change is in the administration stream.")


@admin.register(ApproverGroup)
class ApproverGroupAdmin(ConsoleAdmin):
    """Who is asked by rules that name a group."""

    form = GroupForm
    list_display = ("name", "workspace")
    list_filter = ("workspace",)
    search_fields = ("name", "members__username")
    list_select_related = ("workspace",)
    filter_horizontal = ("members",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Rules name it."""
        return ("workspace", "name") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rules and requests name it; take its members out instead."""
        return False

    def save_model(self, request: HttpRequest, obj: ApproverGroup, form: Any, change: bool) -> None:
        """Set the members, said in the administration stream."""
        group = group_set(
            workspace=obj.workspace, name=obj.name, members=form.cleaned_data["members"], actor=actor_of(request)
        )
        obj.pk = group.pk

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing is left to do: the service has set the members."""


@admin.register(StandingGrant)
class StandingGrantAdmin(ReadOnlyAdmin):
    """Which calls run without asking again, and until when; given on a card, revoked here or on the desk."""

    list_display = ("line", "agent", "tool", "owner", "uses", "most_uses", "ends_at", "revoked_at")
    list_filter = ("workspace", "tool", ("revoked_at", admin.EmptyFieldListFilter))
    search_fields = ("line", "owner__username", "agent")
    list_select_related = ("owner",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected grants", permissions=["view"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[StandingGrant]) -> None:
        """Take them back at once."""
        try:
            for grant in queryset.select_related("workspace"):
                grant_revoke(grant=grant.pk, principal=_principal(request, grant), reason="revoked in the console")
        except HandrailError as refusal:
            messages.error(request, refusal.detail)
            return
        messages.success(request, "Revoked; each change is in the administration stream.")


def _principal(request: HttpRequest, grant: StandingGrant) -> Principal:
    assert isinstance(request.user, User)
    roles = roles_of(user=request.user, workspace=grant.workspace_id)
    return Principal(user=request.user, workspace=grant.workspace, roles=roles)


@admin.register(ApprovalAnswer)
class ApprovalAnswerAdmin(ReadOnlyAdmin):
    """Who answered what, over all requests."""

    within = "request__workspace"
    list_display = ("request", "user", "answer", "via", "at", "hasty")
    list_filter = ("answer", "via", "hasty")
    search_fields = ("request__line", "user__username")
    list_select_related = ("request", "user")


@admin.register(ApprovalView)
class ApprovalViewAdmin(ReadOnlyAdmin):
    """When a request was listed for a person, opened, and reviewed."""

    within = "request__workspace"
    list_display = ("request", "user", "presented_at", "opened_at", "reviewed_at")
    search_fields = ("request__line", "user__username")
    list_select_related = ("request", "user")


@admin.register(PolicyBook)
class PolicyBookAdmin(ReadOnlyAdmin):
    """How often a workspace's rules have changed."""

    list_display = ("workspace", "revision")
    search_fields = ("workspace__slug",)
