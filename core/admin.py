"""The administrator's console for people, workspaces and tokens; every change lands in the administration stream."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest

import core.admin_accounts
import core.admin_people  # noqa: F401 - registers
from core.access import Right, Role
from core.admin_forms import TokenForm, WorkspaceForm
from core.console import ConsoleAdmin, PersonalAdmin, Reach, ReadOnlyAdmin, reach_of
from core.console_said import actor_of
from core.models import ApiToken, Membership, SignInLink, Workspace
from tasks_app.services.access import (
    roles_set,
    token_create,
    token_revoke,
    workspace_add,
    workspace_change,
)


@admin.register(Workspace)
class WorkspaceAdmin(ConsoleAdmin):
    """Workspaces are added (by who runs the deployment) and changed; none is deleted while it has a history."""

    within = "pk"
    form = WorkspaceForm
    list_display = ("name", "slug", "keep_days", "head_seq", "created_at")
    search_fields = ("name", "slug")

    def reached(self, reach: Reach) -> Q:
        """See ConsoleAdmin; who runs the deployment sees that each of them exists."""
        return Q() if reach.runs_all else super().reached(reach)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A new workspace is nobody's yet."""
        return reach_of(request).runs_all

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the slug of an existing workspace: addresses and tokens name it."""
        return ("slug", "head_seq", "created_at") if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Its streams stay."""
        return False

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:
        """Add or change it, said in its stream; the row has the head of that stream, which is no form's to write."""
        actor, keep = actor_of(request), obj.keep_days
        if not change:
            obj.pk = workspace_add(slug=obj.slug, name=obj.name, actor=actor).pk
        workspace_change(workspace=obj, name=obj.name, keep_days=keep, actor=actor)


@admin.register(Membership)
class MembershipAdmin(ConsoleAdmin):
    """Roles are given and taken, one row each; who runs the deployment gives the first role in a workspace."""

    list_display = ("user", "workspace", "role")
    list_filter = ("workspace", "role")
    search_fields = ("user__username", "workspace__name")
    list_select_related = ("user", "workspace")
    autocomplete_fields = ("user", "workspace")

    def reached(self, reach: Reach) -> Q:
        """See ConsoleAdmin."""
        return Q() if reach.runs_all else super().reached(reach)

    def choices(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """See ConsoleAdmin; who runs the deployment may choose any workspace."""
        return rows if reach_of(request).runs_all else super().choices(request, rows)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Take a role and give another: two changes, both said."""
        return False

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        """Give a role."""
        _roles(request, obj, add={Role(obj.role)}, take=set())
        obj.pk = Membership.objects.get(workspace=obj.workspace, user=obj.user, role=obj.role).pk

    def delete_model(self, request: HttpRequest, obj: Membership) -> None:
        """Take a role."""
        _roles(request, obj, add=set(), take={Role(obj.role)})

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Membership]) -> None:
        """Take several roles."""
        for membership in queryset.select_related("user", "workspace"):
            self.delete_model(request, membership)


def _roles(request: HttpRequest, membership: Membership, *, add: set[Role], take: set[Role]) -> None:
    mine = Membership.objects.filter(workspace=membership.workspace, user=membership.user)
    held = {Role(role) for role in mine.values_list("role", flat=True)}
    wanted = (held | add) - take
    roles_set(workspace=membership.workspace, user=membership.user, roles=wanted, actor=actor_of(request))


TOKEN = (
    "name",
    "hint",
    "kind",
    "user",
    "workspace",
    "scopes",
    "created_at",
    "expires_at",
    "revoked_at",
    "last_used_at",
)


@admin.register(ApiToken)
class ApiTokenAdmin(ConsoleAdmin):
    """Tokens are made and revoked; their secret is shown once, when they are made."""

    list_display = ("name", "hint", "kind", "user", "workspace", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("kind", "workspace", "revoked_at")
    search_fields = ("name", "hint", "user__username")
    list_select_related = ("user", "workspace")
    actions = ("revoke",)
    form = TokenForm

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show of a token what it is, not what its form asks."""
        return TOKEN if obj else super().get_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """A token is what it was made as."""
        return TOKEN if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Tell the form who asks: a token with a person's word is made by that person."""
        form = super().get_form(request, obj, change=change, **kwargs)
        form.actor = actor_of(request)
        return form

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A token is what it was made as."""
        return obj is None and super().has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Revoke it: who held it stays known."""
        return False

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        """Make a token and show its secret, this once."""
        made, secret = token_create(
            workspace=obj.workspace,
            user=obj.user,
            name=obj.name,
            scopes=[Right(scope) for scope in form.cleaned_data["scopes"]],
            days=form.cleaned_data["days"],
            kind=obj.kind,
            actor=actor_of(request),
        )
        obj.pk = made.pk
        messages.warning(request, f"The token, shown this once: {secret}")

    @admin.action(description="Revoke the selected tokens", permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        """Revoke them at once."""
        for token in queryset.select_related("workspace"):
            token_revoke(workspace=token.workspace, token=token.pk, actor=actor_of(request))
        messages.success(request, "Revoked; each change is in the administration stream.")


@admin.register(SignInLink)
class SignInLinkAdmin(ReadOnlyAdmin, PersonalAdmin):
    """Which one-time links were made and used; never the secret in one."""

    list_display = ("user", "created_at", "expires_at", "used_at")
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    search_fields = ("user__username",)
    list_select_related = ("user",)
    exclude = ("token_digest",)


admin.site.site_header = "Handrail"
admin.site.site_title = "Handrail"
admin.site.index_title = "Administration"
