"""The administrators' console, ruled by the table of roles: who enters, and which rows each of them reaches.

Django's own flags and permissions open nothing here. Whoever administers a workspace reaches what is of that workspace;
what concerns the whole deployment is changed by whoever runs it (an administrator whose account is a superuser).
"""

import copy
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import admin
from django.contrib.admin.sites import AdminSite
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.contrib.auth.models import User
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from core.access import Right, Role, may
from core.models import Membership, Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What somebody may touch in the console. ``runs_all``: they run the deployment."""

    workspaces: frozenset[UUID] = frozenset()
    runs_all: bool = False

    @property
    def enters(self) -> bool:
        """Tell whether the console opens at all."""
        return bool(self.workspaces)


def reach_of(request: HttpRequest) -> Reach:
    """Return the reach of who asks, looked up once a request: a role that is taken ends it with the next one."""
    known = getattr(request, "console_reach", None)
    if known is None:
        known = _reach(request.user)
        request.console_reach = known  # type: ignore[attr-defined]
    return known


def _reach(user: Any) -> Reach:
    if not isinstance(user, User) or not user.is_active:
        return Reach()
    rows = Membership.objects.filter(user=user).values_list("workspace_id", "role")
    mine = frozenset(workspace for workspace, role in rows if may(frozenset({Role(role)}), Right.ADMINISTER))
    return Reach(workspaces=mine, runs_all=bool(mine) and user.is_superuser)


class Console(AdminSite):
    """Opens to who administers a workspace, and to nobody else."""

    def has_permission(self, request: HttpRequest) -> bool:
        """See ``core.access``: the right to administer, in one of their workspaces."""
        return reach_of(request).enters


class MyWorkspaces(admin.RelatedFieldListFilter):
    """Narrow a list to one workspace; only those that the reader administers are named."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        """Return the reader's workspaces."""
        return field.get_choices(include_blank=False, limit_choices_to={"pk__in": reach_of(request).workspaces})


class ConsoleAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """Rows of the workspaces that one administers.

    ``within``: the path from a row to its workspace, "" for what is of the whole deployment. ``everywhere``: rows
    without a workspace concern all, and are shown to each administrator.
    """

    within = "workspace"
    everywhere = False

    def reached(self, reach: Reach) -> Q:
        """Return the condition that a row is within reach."""
        if not self.within:
            return Q()
        here = Q(**{f"{self.within}__in": reach.workspaces})
        return here | Q(**{f"{self.within}__isnull": True}) if self.everywhere else here

    def may_change(self, reach: Reach, obj: Any) -> bool:
        """Tell whether a row that is seen may be changed: what concerns all only by who runs the deployment."""
        concerns_all = not self.within or (self.everywhere and getattr(obj, f"{self.within}_id") is None)
        return reach.runs_all or not concerns_all

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out what is of other workspaces: lists, searches, single rows and choices begin here."""
        return super().get_queryset(request).filter(self.reached(reach_of(request)))

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Name no other workspaces in the filters."""
        named = super().get_list_filter(request)
        return [("workspace", MyWorkspaces) if one == "workspace" else one for one in named]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Narrow a list by what its filters offer only: any other column could be read letter by letter (a secret)."""
        filters = [one if isinstance(one, str) else one[0] for one in self.get_list_filter(request)]
        offered = [*filters, *([self.date_hierarchy] if self.date_hierarchy else [])]
        named = any(lookup == one or lookup.startswith(f"{one}__") for one in offered)
        return named and bool(super().lookup_allowed(lookup, value, request))

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Offer no row of another workspace, and accept none, in any field of the form."""
        form = super().get_form(request, obj, change=change, **kwargs)
        form.base_fields = copy.deepcopy(form.base_fields)  # fields of the form's own class are shared by all requests
        for chosen in form.base_fields.values():
            if isinstance(chosen, forms.ModelChoiceField) and chosen.queryset is not None:
                chosen.queryset = self.choices(request, chosen.queryset)
                if isinstance(chosen.widget, RelatedFieldWidgetWrapper):  # its window would be a console of its own
                    chosen.widget.can_add_related = chosen.widget.can_change_related = False
                    chosen.widget.can_view_related = False
        return form

    def choices(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return which of these rows a form offers."""
        if rows.model is Workspace:
            return rows.filter(pk__in=reach_of(request).workspaces)
        related = self.admin_site._registry.get(rows.model)
        return rows.filter(related.reached(reach_of(request))) if isinstance(related, ConsoleAdmin) else rows.none()

    def has_module_permission(self, request: HttpRequest) -> bool:
        """See Console."""
        return reach_of(request).enters

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Which rows are seen, get_queryset says."""
        return reach_of(request).enters

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Where a new row may belong, the form's choices say."""
        return reach_of(request).enters

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Change what is within reach."""
        reach = reach_of(request)
        return reach.enters and (obj is None or self.may_change(reach, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Delete what may be changed; also asked about rows that would go with another one."""
        within = obj is None or self.get_queryset(request).filter(pk=obj.pk).exists()
        return within and ConsoleAdmin.has_change_permission(self, request, obj)


class ReadOnlyAdmin(ConsoleAdmin):
    """Looks and finds; changing a row here would leave the record behind."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows come from the record."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows change with their events only."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows go with their stream."""
        return False


class ReadOnlyInline(admin.TabularInline):  # type: ignore[type-arg]  # not generic when it runs
    """Rows of a row that is within reach, looked at only."""

    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What is shown of the row that they belong to, get_queryset of its admin says."""
        return reach_of(request).enters

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows come from the record."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Rows change with their events only."""
        return False


class PersonalAdmin(ConsoleAdmin):
    """Rows of people: seen where one administers a workspace of theirs, changed where one administers all of them.

    Otherwise who administers one workspace could sign in as somebody of another; or set the password of somebody who
    has just been added for another one. ``person``: the path to the person.
    """

    person = "user"

    def reached(self, reach: Reach) -> Q:
        """See ConsoleAdmin; accounts that belong to no workspace yet are seen by each administrator."""
        if reach.runs_all:
            return Q()
        theirs = f"{self.person}__in" if self.person else "pk__in"
        members = Membership.objects.filter(workspace__in=reach.workspaces).values("user")
        return Q(**{theirs: members}) | ~Q(**{theirs: Membership.objects.values("user")})

    def may_change(self, reach: Reach, obj: Model) -> bool:
        """Tell whether the person belongs to one's own workspaces and to no other, and does not run the deployment."""
        someone = cast(User, getattr(obj, self.person) if self.person else obj)
        theirs = set(Membership.objects.filter(user=someone).values_list("workspace_id", flat=True))
        return reach.runs_all or (bool(theirs) and theirs <= reach.workspaces and not someone.is_superuser)
