"""The record in the administrator's console: looked at, never changed; stop switches through their service."""

from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.http import HttpRequest

from core.console import ConsoleAdmin, Reach, ReadOnlyAdmin, reach_of
from core.console_said import actor_of
from core.models import Workspace
from tasks_app.models import (
    Blob,
    Call,
    ClusterIdentity,
    Credential,
    CredentialGrant,
    Event,
    LateWrite,
    RequestKey,
    SavedView,
    StopSwitch,
    Task,
    Worker,
)
from tasks_app.record.events import SwitchChanged
from tasks_app.services.stops import stop_lift, stop_set


class StreamAdmin(ReadOnlyAdmin):
    """Rows of a stream: a task's, or a workspace's own."""

    def reached(self, reach: Reach) -> Q:
        """See ConsoleAdmin."""
        tasks = Task.objects.filter(workspace__in=reach.workspaces).values("pk")
        return Q(stream__in=tasks) | Q(stream__in=reach.workspaces)


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    """Tasks; what may be done to one is done on its page, by its services."""

    list_display = ("title", "status", "agent", "owner", "workspace", "step", "created_at")
    list_filter = ("status", "workspace", "agent")
    search_fields = ("title", "id", "owner__username")
    list_select_related = ("owner", "workspace")
    ordering = ("-id",)
    show_full_result_count = False


@admin.register(Call)
class CallAdmin(ReadOnlyAdmin):
    """Tool calls, found by key, reference, resource or business key."""

    list_display = ("name", "tool", "state", "effect_class", "attempts", "reference", "task")
    list_filter = ("state", "effect_class", "tool", "workspace")
    search_fields = ("name", "key", "reference", "resource", "business_key", "digest", "task__title")
    list_select_related = ("task",)
    ordering = ("-id",)
    show_full_result_count = False


@admin.register(Event)
class EventAdmin(StreamAdmin):
    """Events, found by the id of their stream."""

    list_display = ("stream", "seq", "kind", "actor", "epoch", "at")
    list_filter = ("kind",)
    search_fields = ("stream", "actor")
    ordering = ("-id",)
    exclude = ("digest",)
    readonly_fields = ("chained",)
    show_full_result_count = False

    @admin.display(description="digest")
    def chained(self, event: Event) -> str:
        """Show the digest in the record's chain."""
        return bytes(event.digest).hex()


@admin.register(Blob)
class BlobAdmin(StreamAdmin):
    """What is stored apart from an event: its size and digest; the bytes are read on the task's page."""

    list_display = ("sha256", "stream", "size", "media_type")
    list_filter = ("media_type",)
    search_fields = ("sha256", "stream")
    exclude = ("content",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave the bytes in the database."""
        return super().get_queryset(request).defer("content")


@admin.register(LateWrite)
class LateWriteAdmin(StreamAdmin):
    """What workers that had lost a task tried to write."""

    list_display = ("kind", "stream", "actor", "presented_epoch", "held_epoch", "at")
    list_filter = ("kind",)
    search_fields = ("stream", "actor")
    ordering = ("-at",)


@admin.register(RequestKey)
class RequestKeyAdmin(StreamAdmin):
    """Which request keys were used, and for what."""

    list_display = ("key", "principal", "stream", "seq", "created_at")
    search_fields = ("key", "principal", "stream")
    ordering = ("-created_at",)


@admin.register(SavedView)
class SavedViewAdmin(ReadOnlyAdmin):
    """Filters that people keep for themselves: one's own are shown; made and forgotten above the list of tasks."""

    list_display = ("name", "workspace", "saved_at")
    list_filter = ("workspace",)
    search_fields = ("name",)
    list_select_related = ("workspace",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Leave out other people's: whoever keeps one is told that only they see it."""
        return super().get_queryset(request).filter(user=cast(User, request.user))


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    """Workers, as their keepers announce them."""

    within = ""
    list_display = ("name", "host", "pid", "keeper_pid", "pool", "code_digest", "started_at", "seen_at", "draining")
    list_filter = ("pool", "draining")
    search_fields = ("name", "host")
    ordering = ("-seen_at",)


@admin.register(ClusterIdentity)
class ClusterIdentityAdmin(ReadOnlyAdmin):
    """Which Postgres holds this record."""

    within = ""
    list_display = ("system_identifier", "timeline", "reconciling")


@admin.register(Credential)
class CredentialAdmin(ReadOnlyAdmin):
    """Names of secrets; set and revoked by ``manage.py credential``, and never shown."""

    list_display = ("name", "workspace", "created_at", "changed_at", "revoked_at")
    list_filter = ("workspace",)
    search_fields = ("name",)
    list_select_related = ("workspace",)
    ordering = ("name",)
    exclude = ("sealed",)


@admin.register(CredentialGrant)
class CredentialGrantAdmin(ReadOnlyAdmin):
    """Which call was granted which secret, until when, and whether it took it."""

    within = "task__workspace"
    list_display = ("credential", "call", "role", "attempt", "issued_at", "expires_at", "used_at", "revoked_at", "task")
    list_filter = ("role",)
    search_fields = ("credential__name", "call", "task__title")
    list_select_related = ("credential", "task")
    ordering = ("-id",)
    show_full_result_count = False


class StopForm(forms.ModelForm):  # type: ignore[type-arg]  # not generic when it runs
    """A stop to set, and in whose administration stream it is said."""

    said_in = forms.ModelChoiceField(
        Workspace.objects.order_by("name"),
        label="Workspace",
        help_text="Which workspace is meant; a stop over everything is said in its administration stream.",
    )

    class Meta:
        model = StopSwitch
        fields = ("scope", "name", "reason")

    def clean(self) -> dict[str, Any]:
        """Refuse here what the service would refuse, at its field."""
        given: dict[str, Any] = super().clean() or {}
        needs_name = given.get("scope") in {"agent", "tool"}
        if needs_name != bool(given.get("name")):
            self.add_error("name", "Name the agent or tool." if needs_name else "A stop of this scope takes no name.")
        # The switch's own workspace is set by the service; the constraint of the table is checked against it.
        self.instance.workspace = None if given.get("scope") == "all" else given.get("said_in")
        return given


@admin.register(StopSwitch)
class StopSwitchAdmin(ConsoleAdmin):
    """Stops are set and lifted by their services: under the lock that orders them with every attempt (rule 14)."""

    everywhere = True
    list_display = ("scope", "name", "workspace", "reason", "set_by", "set_at")
    list_filter = ("scope", "workspace")
    search_fields = ("name", "reason")
    list_select_related = ("workspace", "set_by")
    form = StopForm

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show of a stop what it is, not what its form asks."""
        return self.list_display if obj else super().get_fields(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Lift it and set another."""
        return self.list_display if obj else ()

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Offer a stop over everything to who runs the deployment only."""
        form = super().get_form(request, obj, change=change, **kwargs)
        scope = form.base_fields.get("scope")
        if scope is not None and not reach_of(request).runs_all:
            scope.choices = [choice for choice in scope.choices if choice[0] != "all"]
        return form

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Lift it and set another: two changes, both said."""
        return False

    def save_model(self, request: HttpRequest, obj: StopSwitch, form: Any, change: bool) -> None:
        """Set the stop, and say which attempts were committed before it."""
        stop = stop_set(
            workspace=form.cleaned_data["said_in"],
            scope=obj.scope,
            name=obj.name,
            reason=obj.reason,
            user=cast(User, request.user),
            actor=actor_of(request),
        )
        obj.pk = stop.switch.pk
        for attempt in stop.attempts:
            said = (
                f"Already attempted, may still send until {attempt['send_by']}: {attempt['call']} ({attempt['tool']})."
            )
            messages.warning(request, said)

    def delete_model(self, request: HttpRequest, obj: StopSwitch) -> None:
        """Lift the stop; it is said in its workspace's stream, or where a stop over everything was said."""
        stop_lift(
            workspace=obj.workspace or _where_set(obj, reach_of(request)),
            stop=obj.pk,
            reason="lifted in the administrator's console",
            user=cast(User, request.user),
            actor=actor_of(request),
        )

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[StopSwitch]) -> None:
        """Lift several stops, each said."""
        for switch in queryset:
            self.delete_model(request, switch)


def _where_set(stop: StopSwitch, reach: Reach) -> Workspace:
    """Return the workspace in whose stream a stop over everything was said; where that is gone, one of the reader's."""
    streams = Workspace.objects.values("pk")
    said = Event.objects.filter(stream__in=streams, kind=SwitchChanged.KIND, data__what=str(stop)).order_by("at").last()
    if said is not None:
        return Workspace.objects.get(pk=said.stream)
    return Workspace.objects.filter(pk__in=reach.workspaces).earliest("created_at")
