"""Accounts in the console: every change of what somebody may do, or of how they get in, is in the streams."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse

from core.console import PersonalAdmin, reach_of
from core.console_said import actor_of, person_changed

# What of an account is said where it changes; the rest (a first name) is not. Who has an account's e-mail address at a
# provider of sign-ins comes in as that person.
SAID_OF_A_PERSON = ("username", "email", "is_active", "is_superuser")

RIGHTS_COME_FROM = (
    "What somebody may do comes from their roles in each workspace (Memberships). A superuser runs the deployment: adds"
    " workspaces, gives first roles, sets a stop over everything."
)

NAMES_STAY = (
    "A username stays as it was given: records name people by it, and so does what says who must not decide a call."
    " An account that nobody needs any more is closed (not active) and never deleted, so that its name goes to nobody"
    " else."
)

admin.site.unregister(User)


@admin.register(User)
class PersonAdmin(PersonalAdmin, UserAdmin):  # type: ignore[type-arg]  # not generic when it runs
    """Accounts, with every change of their rights in the administration streams of their workspaces."""

    person = ""
    list_display = ("username", "email", "first_name", "last_name", "is_active", "last_login")
    list_filter = ("is_active", "is_superuser")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password"), "description": NAMES_STAY}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        ("Account", {"fields": ("is_active", "is_superuser"), "description": RIGHTS_COME_FROM}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Only who runs the deployment makes others run it; nobody gives an account another name (rule 6)."""
        more = () if reach_of(request).runs_all else ("is_superuser",)
        named = () if obj is None else ("username",)
        return (*super().get_readonly_fields(request, obj), *more, *named)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An account is closed instead: whoever was given its name would be taken for who had it (rule 6)."""
        return False

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Save an account, and say what changed of its rights."""
        before = _rights(User.objects.get(pk=obj.pk)) if change else None
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            self._record(request, obj, before, _rights(obj))

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """Set or take away a password, and say that it was; of a password itself nothing is said."""
        found = self.get_object(request, unquote(id))
        if found is None:
            raise Http404
        before, kept = _password(found), found.password
        with transaction.atomic():
            answer = super().user_change_password(request, id, form_url)
            found.refresh_from_db(fields=["password"])
            if found.password != kept:
                self._say(request, found, "password of", before, _password(found))
        return answer

    def _record(self, request: HttpRequest, person: User, before: Any, after: Any) -> None:
        if before != after:
            self._say(request, person, "account", before, after)

    def _say(self, request: HttpRequest, person: User, what: str, before: Any, after: Any) -> None:
        # An account without a workspace has no stream of its own: the change is said where its author administers.
        said = f"{what} {person.get_username()}"
        elsewhere = reach_of(request).workspaces
        person_changed(person, what=said, before=before, after=after, actor=actor_of(request), elsewhere=elsewhere)


def _password(person: User) -> dict[str, bool] | None:
    return {"set": True} if person.has_usable_password() else None


def _rights(person: User) -> dict[str, Any]:
    return {name: getattr(person, name) for name in SAID_OF_A_PERSON}
