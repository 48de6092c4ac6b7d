"""The administrator's console for people, workspaces and tokens; every change lands in the administration stream."""

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest

import core.admin_accounts  # noqa: F401 - registers
from core.access import Right, Role
from core.admin_forms import TokenForm, WorkspaceForm
from core.console import ConsoleAdmin, PersonalAdmin, Reach, ReadOnlyAdmin, reach_of
from core.console_said import actor_of, person_changed
from core.models import ApiToken, Membership, SignInLink, Workspace
from tasks_app.services.access import (
    roles_set,
    token_create,
    token_revoke,
    workspace_add,
    workspace_rename,
)

# What of an account is a change of rights; the rest (a name, an address) is not.
RIGHTS_OF_A_PERSON = ("username", "is_active", "is_superuser")

RIGHTS_COME_FROM = (
    "What somebody may do comes from their roles in each workspace (Memberships). A superuser runs the deployment: adds"
    " workspaces, gives first roles, sets a stop over everything."
)


@admin.register(Workspace)
class WorkspaceAdmin(ConsoleAdmin):
    """Workspaces are added (by who runs the deployment) and renamed; none is deleted while it has a history."""

    within = "pk"
    form = WorkspaceForm
    list_display = ("name", "slug", "head_seq", "created_at")
    search_fields = ("name", "slug")
    readonly_fields = ("head_seq", "created_at")

    def reached(self, reach: Reach) -> Q:
        """See ConsoleAdmin; who runs the deployment sees that each of them exists."""
        return Q() if reach.runs_all else super().reached(reach)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A new workspace is nobody's yet."""
        return reach_of(request).runs_all

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Keep the slug of an existing workspace: addresses and tokens name it."""
        return (*self.readonly_fields, "slug") if obj else self.readonly_fields

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Its streams stay."""
        return False

    def save_model(self, request: HttpRequest, obj: Workspace, form: Any, change: bool) -> None:
        """Add or rename it, said in its stream; the row has the head of that stream, which is no form's to write."""
        if change:
            workspace_rename(workspace=obj, name=obj.name, actor=actor_of(request))
        else:
            obj.pk = workspace_add(slug=obj.slug, name=obj.name, actor=actor_of(request)).pk


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


@admin.register(ApiToken)
class ApiTokenAdmin(ConsoleAdmin):
    """Tokens are made and revoked; their secret is shown once, when they are made."""

    list_display = ("name", "hint", "kind", "user", "workspace", "expires_at", "revoked_at", "last_used_at")
    list_filter = ("kind", "workspace", "revoked_at")
    search_fields = ("name", "hint", "user__username")
    list_select_related = ("user", "workspace")
    actions = ("revoke",)
    form = TokenForm

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


admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(PersonalAdmin, UserAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """Accounts, with every change of their rights in the administration streams of their workspaces."""

    person = ""
    list_display = ("username", "email", "first_name", "last_name", "is_active", "last_login")
    list_filter = ("is_active", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Account", {"fields": ("is_active", "is_superuser"), "description": RIGHTS_COME_FROM}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Only who runs the deployment makes others run it."""
        more = () if reach_of(request).runs_all else ("is_superuser",)
        return (*super().get_readonly_fields(request, obj), *more)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save an account, and say what changed of its rights."""
        before = _rights(User.objects.get(pk=obj.pk)) if change else None
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            self._record(request, obj, before, _rights(obj))

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete an account; one that owns or did something is kept by the database."""
        with transaction.atomic():
            self._record(request, obj, _rights(obj), None)
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete several accounts, each said."""
        for person in queryset:
            self.delete_model(request, person)

    def _record(self, request: HttpRequest, person: User, before: Any, after: Any) -> None:
        if before == after:
            return
        what = f"account {person.get_username()}"
        # An account without a workspace has no stream of its own: the change is said where its author is.
        elsewhere = cast(User, request.user)
        person_changed(person, what=what, before=before, after=after, actor=actor_of(request), elsewhere=elsewhere)


def _rights(person: User) -> dict[str, Any]:
    return {name: getattr(person, name) for name in RIGHTS_OF_A_PERSON}


admin.site.site_header = "Handrail"
admin.site.site_title = "Handrail"
admin.site.index_title = "Administration"
